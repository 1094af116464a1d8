"""A client of Streamlit's websocket, which runs a page and clicks on it without a browser."""

from dataclasses import dataclass, field
from typing import Any

import websockets
from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from streamlit.proto.WidgetStates_pb2 import WidgetStates


@dataclass
class Page:
    """A page of a Streamlit server in one session.

    `widgets` are the ids of the radio buttons and buttons of the last run by kind; `images` are
    the addresses of its images.
    """

    port: int
    cookie: str = ""
    widgets: dict[str, str] = field(default_factory=dict)
    options: list[str] = field(default_factory=list)
    images: list[str] = field(default_factory=list)
    _socket: Any = None

    async def open(self) -> None:
        """Open the websocket, and run the page for the first time."""
        headers = {"Cookie": self.cookie} if self.cookie else {}
        self._socket = await websockets.connect(
            f"ws://127.0.0.1:{self.port}/_stcore/stream",
            origin=f"http://127.0.0.1:{self.port}",  # type: ignore[arg-type]
            additional_headers=headers,
            subprotocols=["streamlit"],  # type: ignore[list-item]
            max_size=None,
            ping_interval=None,
        )
        await self.run(WidgetStates())

    async def run(self, widgets: WidgetStates) -> None:
        """Run the page with the states of its widgets, and wait until the run has ended."""
        message = BackMsg()
        message.rerun_script.widget_states.CopyFrom(widgets)
        await self._socket.send(message.SerializeToString())
        self.images = []
        while True:
            received = ForwardMsg()
            received.ParseFromString(await self._socket.recv())
            kind = received.WhichOneof("type")
            if kind == "delta":
                self._note(received)
            elif kind == "script_finished":
                return

    async def choose(self, option: int) -> None:
        """Choose an option of the page's radio buttons."""
        await self.run(self._states(option))

    async def click(self, option: int) -> None:
        """Click on the page's button, with an option chosen."""
        states = self._states(option)
        states.widgets.add(id=self.widgets["button"], trigger_value=True)
        await self.run(states)

    async def close(self) -> None:
        """Close the websocket."""
        await self._socket.close()

    def _states(self, option: int) -> WidgetStates:
        states = WidgetStates()
        states.widgets.add(id=self.widgets["radio"], string_value=self.options[option])
        return states

    def _note(self, received: ForwardMsg) -> None:
        element = received.delta.new_element
        kind = element.WhichOneof("type")
        if kind == "radio":
            self.widgets["radio"] = element.radio.id
            self.options = list(element.radio.options)
        elif kind == "button":
            self.widgets["button"] = element.button.id
        elif kind == "imgs":
            self.images += [image.url for image in element.imgs.imgs]
