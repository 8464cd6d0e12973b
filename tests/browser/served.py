"""The server of the browser tests: `python -m tests.browser.served run app.py ...`, as `streamlit run app.py ...`.

It stops what nobody looks at after two seconds, where the app goes on for some seconds with a run and for a minute with
a reference: what one test has left is not worked out beside the next ones. A page that is open asks for what it shows
twice a second; where it is late once, what waits for it goes on as it asks again.
"""

from streamlit.web.cli import main

from pmpviz.live import background, worker

LEFT_SECONDS = 2.0

if __name__ == "__main__":
    worker.LEASE_SECONDS = background.LEASE_SECONDS = background.WANTED_SECONDS = LEFT_SECONDS
    main()
