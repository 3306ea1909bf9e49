#!/usr/bin/env python3
"""Writes events.hex: the events of tethys/train/event_file_test.cpp as TensorBoard's own writer makes them.

usage: python3 -m venv V && V/bin/pip install tensorboard==2.21.0 && V/bin/python generate.py
Made with tensorboard 2.21.0, protobuf 7.36.2.
"""
import io
import pathlib

from tensorboard.compat.proto import event_pb2, summary_pb2
from tensorboard.plugins.text.summary import text_pb
from tensorboard.summary.writer.record_writer import RecordWriter

TIME = 1750000000.25
Value = summary_pb2.Summary.Value
events = [
    event_pb2.Event(wall_time=TIME, step=0, file_version="brain.Event:2"),
    event_pb2.Event(wall_time=TIME, step=21, session_log=event_pb2.SessionLog(status=event_pb2.SessionLog.START)),
    event_pb2.Event(wall_time=TIME + 1, step=21, summary=summary_pb2.Summary(
        value=[Value(tag="loss", simple_value=2.5), Value(tag="grad_norm", simple_value=0.1),
               Value(tag="data_seconds", simple_value=0.0)])),
    event_pb2.Event(wall_time=TIME + 2, step=21, summary=text_pb("sample", "\tOnce é\n\tupon")),
]
out = io.BytesIO()
writer = RecordWriter(out)
for event in events:
    writer.write(event.SerializeToString())
hexed = out.getvalue().hex()
lines = [hexed[i:i + 100] for i in range(0, len(hexed), 100)]
pathlib.Path(__file__).with_name("events.hex").write_text("\n".join(lines) + "\n")
