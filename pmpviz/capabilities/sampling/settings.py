"""What a link cannot carry of a plan, and what of a plan must fit its model."""

from __future__ import annotations

from typing import Any

from pmpviz.app.models import chain_limit, mend_model, model_of
from pmpviz.capabilities.sampling import edits
from pmpviz.live.plan import Text
from pmpviz.types import InputError


class Model(Text):
    """The field `model`: another model than the default's begins without edits; `fitted` mends its text."""

    def read(self, plan: Any, given: dict[str, str], notices: list[str]) -> Any:
        """The text as it is."""
        return plan.replace(model=given["model"], field=(), clamp=(), places=()) if "model" in given else plan


MODEL = Model("model", "model was", model_of)


def share_limits(plan: Any) -> list[str]:
    """One sentence for each thing that a link to this plan leaves out."""
    left = edits.too_large(plan.field, plan.clamp)
    sentences = [f"The {what} is too large for a link; export the manifest to keep it." for what in left]
    if plan.model.startswith("file:"):
        sentences.append("The model's file is not in the link: whoever opens the link is asked for the same file.")
    return sentences


def _of_equal_sites(text: str, asked: str) -> bool:
    """Whether the mended text names the builder and the size that were asked for, or the size was left to it."""
    (builder, _, size), (wanted, _, wanted_size) = (
        "".join(given.split()).split(",")[0].partition(":") for given in (text, asked)
    )
    return builder == wanted and wanted_size in ("", size)


def fitted(plan: Any, default: Any) -> tuple[Any, list[str]]:
    """(plan whose model can be built, or is a file to be asked for, with edits and chains that fit it, notices)."""
    text, notices = mend_model(plan.model, default.model)
    if (plan.field or plan.clamp) and not _of_equal_sites(text, plan.model):
        notices.append("the sites painted or clamped on that model were left out")
        plan = plan.replace(field=(), clamp=(), places=())
    plan = plan.replace(model=text)
    try:
        model = model_of(text)
    except InputError as error:
        return plan, [*notices, str(error)]
    plan, notice = edits.within(plan, model)
    notices += [notice] if notice else []
    most = chain_limit(model)
    if plan.chains > most:
        notices.append(f"chains = {plan.chains} is too many for {model.n:,} sites and was set to {most}")
    return plan.replace(chains=min(plan.chains, most)), notices


__all__ = ["MODEL", "fitted", "share_limits"]
