"""Streams and events."""

from __future__ import annotations

from .. import _parloop
from ._device import attempt, current_device
from ._pointer import pointer_wrapper
from ._status import INVALID_HANDLE, INVALID_VALUE, NOT_READY, SUCCESS, cudaError_t, failed

_BLOCKING_SYNC, _DISABLE_TIMING, _INTERPROCESS = 1, 2, 4
_ALL_EVENT_FLAGS = _BLOCKING_SYNC | _DISABLE_TIMING | _INTERPROCESS


class cudaStream_t:
    """A queue of work on this thread's device, made by this call.

    Parameters
    ----------
    flags : int
        0, or 1 for a stream that does not wait for the default stream. Streams here wait for it in either case, which is always right.
    priority : int
        Accepted for the sake of CUDA's signature.

    Examples
    --------
    >>> from parloop import gpu
    >>> stream = gpu.cudaStream_t()
    >>> stream.last_status(), gpu.cudaStreamSynchronize(stream)
    (<cudaError: code=0>, <cudaError: code=0>)
    """

    def __init__(self, flags: int = 0, priority: int = 0) -> None:
        self._stream: _parloop.Stream | None = None
        if int(flags) not in (0, 1):
            self._status = failed(INVALID_VALUE)
            return
        int(priority)
        self._stream, self._status = attempt(lambda: current_device().stream())

    def last_status(self) -> cudaError_t:
        """Whether it could be made."""
        return self._status

    def get(self) -> pointer_wrapper:
        """The driver's handle, for device code of your own; 0 on the CPU."""
        return pointer_wrapper(0 if self._stream is None else self._stream.handle)

    def __int__(self) -> int:
        return int(self.get())

    def __cuda_stream__(self) -> tuple[int, int]:
        return 0, int(self)

    def __repr__(self) -> str:
        return f"<cudaStream_t {int(self):#x}: {self._status}>"


class cudaEvent_t:
    """A point in the order of a stream, once `cudaEventRecord` put it there.

    Parameters
    ----------
    flags : int
        CUDA's flags; with 2 (`cudaEventDisableTiming`) no times are measured.

    Examples
    --------
    >>> from parloop import gpu
    >>> start, end = gpu.cudaEvent_t(), gpu.cudaEvent_t()
    >>> gpu.cudaEventRecord(start), gpu.cudaEventRecord(end), gpu.cudaEventSynchronize(end)
    (<cudaError: code=0>, <cudaError: code=0>, <cudaError: code=0>)
    >>> milliseconds, error = gpu.cudaEventElapsedTime(start, end)
    >>> milliseconds >= 0, error
    (True, <cudaError: code=0>)
    """

    def __init__(self, flags: int = 0) -> None:
        self._event: _parloop.Event | None = None
        self._recorded = False
        self._timed = not int(flags) & _DISABLE_TIMING
        if int(flags) & ~_ALL_EVENT_FLAGS or (int(flags) & _INTERPROCESS and self._timed):
            self._status = failed(INVALID_VALUE)
            return
        self._event, self._status = attempt(lambda: current_device().event())

    def last_status(self) -> cudaError_t:
        """Whether it could be made."""
        return self._status

    def get(self) -> pointer_wrapper:
        """The driver's handle, for device code of your own; 0 on the CPU."""
        return pointer_wrapper(0 if self._event is None else self._event.handle)

    def __int__(self) -> int:
        return int(self.get())

    def __repr__(self) -> str:
        return f"<cudaEvent_t {int(self):#x}: {'recorded' if self._recorded else 'not recorded'}, {self._status}>"


def _stream_of(stream: cudaStream_t | int | None) -> _parloop.Stream | None:
    if stream is None or (isinstance(stream, int) and stream == 0):
        return current_device().default_stream
    if not isinstance(stream, cudaStream_t):
        raise TypeError(f"a stream must be a cudaStream_t, or None for the default stream, not {type(stream).__name__}")
    return stream._stream


def _check_event(event: cudaEvent_t) -> None:
    if not isinstance(event, cudaEvent_t):
        raise TypeError(f"an event must be a cudaEvent_t, not {type(event).__name__}")


def cudaEventRecord(event: cudaEvent_t, stream: cudaStream_t | int | None = None) -> cudaError_t:
    """Puts the event after all work queued so far on the stream, by default the default stream."""
    _check_event(event)
    queue, status = attempt(_stream_of, stream)
    if status != SUCCESS:
        return status
    if queue is None or event._event is None:
        return failed(INVALID_HANDLE)
    _, status = attempt(queue.record, event._event)
    event._recorded = event._recorded or status == SUCCESS
    return status


def cudaEventSynchronize(event: cudaEvent_t) -> cudaError_t:
    """Waits until all work before the event is done; an event that was never recorded is done."""
    _check_event(event)
    if event._event is None:
        return failed(INVALID_HANDLE)
    return attempt(event._event.wait)[1] if event._recorded else cudaError_t(SUCCESS)


def cudaEventQuery(event: cudaEvent_t) -> cudaError_t:
    """0 when all work before the event is done, 600 when it is not; an event that was never recorded is done."""
    _check_event(event)
    if event._event is None:
        return failed(INVALID_HANDLE)
    if not event._recorded:
        return cudaError_t(SUCCESS)
    done, status = attempt(event._event.query)
    return failed(NOT_READY) if done is False else status


def cudaEventElapsedTime(start: cudaEvent_t, end: cudaEvent_t) -> tuple[float, cudaError_t]:
    """Milliseconds between two events, and the status: 400 if one was not recorded or takes no time, 600 if one is not done."""
    for event in (start, end):
        _check_event(event)
    if start._event is None or end._event is None or not all(e._recorded and e._timed for e in (start, end)):
        return 0.0, failed(INVALID_HANDLE)
    for event in (start, end):
        status = cudaEventQuery(event)
        if status != SUCCESS:
            return 0.0, status
    seconds, status = attempt(end._event.since, start._event)
    return (0.0 if seconds is None else seconds * 1e3), status


def cudaStreamSynchronize(stream: cudaStream_t | int | None = None) -> cudaError_t:
    """Waits until all work queued so far on the stream is done."""
    queue, status = attempt(_stream_of, stream)
    if status != SUCCESS:
        return status
    return failed(INVALID_HANDLE) if queue is None else attempt(queue.synchronize)[1]


def cudaStreamQuery(stream: cudaStream_t | int | None = None) -> cudaError_t:
    """0 when all work queued so far on the stream is done, 600 when it is not."""
    queue, status = attempt(_stream_of, stream)
    if status != SUCCESS:
        return status
    if queue is None:
        return failed(INVALID_HANDLE)
    idle, status = attempt(lambda: queue.idle)
    return failed(NOT_READY) if idle is False else status


def cudaStreamWaitEvent(stream: cudaStream_t | int | None, event: cudaEvent_t, flags: int = 0) -> cudaError_t:
    """Later work on the stream starts after the event; one that was never recorded is not waited for."""
    _check_event(event)
    queue, status = attempt(_stream_of, stream)
    if status != SUCCESS:
        return status
    if int(flags) not in (0, 1):
        return failed(INVALID_VALUE)
    if queue is None or event._event is None:
        return failed(INVALID_HANDLE)
    return attempt(queue.wait, event._event)[1] if event._recorded else cudaError_t(SUCCESS)
