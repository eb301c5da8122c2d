"""A typed client of Garson: the generated operations in `generated.api`, and errors as exceptions with a code."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TypeVar

from .generated import AuthenticatedClient
from .generated.api.events import list_events
from .generated.models import Code, Detail, ErrorBody, Event, ListEventsDir
from .generated.types import UNSET, Response, Unset

__all__ = ["Code", "EventPage", "GarsonError", "answer_of", "connect", "connect_shop", "event_pages"]

T = TypeVar("T")


class GarsonError(Exception):
    """A response that is not a success."""

    status: int
    # For programs. None if the response is not from Garson, but from a proxy for example.
    code: Code | None
    # The fields that are wrong.
    details: list[Detail]
    # What the operator needs to find the request in the log.
    request_id: str | None

    def __init__(self, status: int, body: ErrorBody | None) -> None:
        super().__init__(body.error.message if body else f"The server answered {status}.")
        self.status = status
        self.code = body.error.code if body else None
        self.details = body.error.details if body else []
        self.request_id = body.request_id if body else None


def connect(url: str, api_key: str) -> AuthenticatedClient:
    """A client with an API key of an account."""
    return AuthenticatedClient(base_url=url.rstrip("/"), token=api_key)


def connect_shop(url: str, inbound_key: str) -> AuthenticatedClient:
    """A client for the operations of own shops (`/hooks/direct/…`), with the `inboundKey` of an integration."""
    return AuthenticatedClient(
        base_url=url.rstrip("/"), token=inbound_key, prefix="", auth_header_name="x-api-key"
    )


def answer_of(response: Response[T | ErrorBody]) -> T:
    """The body of a success; raises a `GarsonError` otherwise."""
    parsed = response.parsed
    if parsed is None or isinstance(parsed, ErrorBody):
        raise GarsonError(int(response.status_code), parsed)
    return parsed


@dataclass(frozen=True)
class EventPage:
    """Events, oldest first, and the position after them."""

    events: list[Event]
    cursor: str


def event_pages(garson: AuthenticatedClient, cursor: str | None = None, limit: int = 200) -> Iterator[EventPage]:
    """All events after a position, oldest first, page by page."""
    after: str | Unset = UNSET if cursor is None else cursor
    while True:
        page = answer_of(
            list_events.sync_detailed(client=garson, dir_=ListEventsDir.PREV, limit=limit, cursor=after)
        )
        if not page.data or not page.paging.prev:
            return
        after = page.paging.prev
        # Pages are newest first, whatever their direction.
        yield EventPage(events=page.data[::-1], cursor=after)
