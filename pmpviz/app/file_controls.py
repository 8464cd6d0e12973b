"""Files that a person brings to a page: each taken up once, its fault shown as long as it is there."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import streamlit as st

from pmpviz.app.uploads import STORE, Upload
from pmpviz.app.widgets import bind, select
from pmpviz.app.words import sentence
from pmpviz.io.datasets import unzipped
from pmpviz.types import InputError

FILE = "file"
IMAGE_TYPES = ["npz", "zip", "png", "jpg", "jpeg", "bmp", "gif"]


def taken(file: Any, key: str, box: Any, read: Callable[[Any], Any]) -> Any:
    """What `read` makes of the file of a widget of this key, once for each file; else None."""
    if file is None:
        return None
    before, fault = st.session_state.get(f"{key}_seen", (None, None))
    found = None
    if before != file.file_id:
        fault = None
        try:
            found = read(file)
        except InputError as error:
            fault = sentence(error)
        st.session_state[f"{key}_seen"] = (file.file_id, fault)
    if fault:
        box.error(fault)
    return found


@dataclass(frozen=True)
class Pictures:
    """What a page takes for pictures: `of_npz(bytes, name)`, `of_pictures([(name, bytes), ...])`.

    `asked` says what to bring, and `told(upload)` what has come.
    """

    asked: str
    told: Callable[[Upload], str]
    of_npz: Callable[[bytes, str], Any]
    of_pictures: Callable[[Iterable[tuple[str, bytes]]], Any]

    def read(self, files: Sequence[Any]) -> Any:
        """What the files hold; raises InputError."""
        archives = [file for file in files if file.name.lower().endswith((".npz", ".zip"))]
        if archives and len(files) > 1:
            raise InputError(f"{archives[0].name} holds all pictures by itself; bring one archive, or pictures only")
        if not archives:
            return self.of_pictures([(file.name, file.getvalue()) for file in files])
        data, name = archives[0].getvalue(), archives[0].name
        return self.of_npz(data, name) if name.lower().endswith(".npz") else self.of_pictures(unzipped(data, name))


def source_control(label: str, sources: Mapping[str, str], own: str, now: str, plan: Any, key: str, box: Any) -> str:
    """What is chosen for the plan's data: one of the sources, or FILE for a person's own, whose label is `own`.

    `now` is what the plan has. Own files are asked for until they come, or another plan does: until then the plan
    has what it had before.
    """
    asking = st.session_state.get(f"{key}_asking") == plan.data
    chosen = bind(key, FILE if asking or plan.data.startswith("file:") else now)
    st.session_state[f"{key}_asking"] = plan.data if chosen == FILE else None
    select(box, label, {**sources, FILE: own}, key)
    return chosen


def pictures_control(pictures: Pictures, plan: Any, key: str, box: Any, adopt: Callable[[Any, Any], Any]) -> Any:
    """The plan with own pictures as its data, which `adopt(plan, value)` may fit it to or raise InputError for."""
    held = STORE.find(plan.data[len("file:") :]) if plan.data.startswith("file:") else None
    if held is not None:
        box.caption(pictures.told(held))
    words = "Pictures of one size, a .zip of them, or an .npz"
    files = box.file_uploader(words, type=IMAGE_TYPES, accept_multiple_files=True, key=f"{key}_files")
    if not files:
        if held is None:
            box.info(pictures.asked)
        return plan
    files = sorted(files, key=lambda file: file.name)
    try:
        data = b"".join(file.getvalue() for file in files)
        name = files[0].name if len(files) == 1 else f"{len(files)} pictures"
        upload = STORE.add(name, data, lambda name, data: pictures.read(files))
        return adopt(plan.replace(data=f"file:{upload.sha256}"), upload.model)
    except InputError as error:
        box.error(sentence(error))
        return plan
