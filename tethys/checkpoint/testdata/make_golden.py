"""Writes golden.safetensors with PyPI safetensors 0.5.3, numpy and ml_dtypes: python make_golden.py

The test reads it, and writes the same bytes itself; one dtype per width, as the peer orders equal widths by dtype.
"""
import os

import ml_dtypes
import numpy as np
from safetensors.numpy import save_file

tensors = {
    "z.f64": np.array([1.5, -2.25], np.float64),
    "layers.0.w": np.arange(6, dtype=np.float32).reshape(2, 3),
    "layers.0.b": np.array(7.5, np.float32),
    "half": np.array([[1.0], [-0.5], [3.140625]], ml_dtypes.bfloat16),
    "empty": np.zeros((0, 4), np.uint8),
    "bytes": np.array([1, 2, 255], np.uint8),
}
path = os.path.join(os.path.dirname(os.path.abspath(__file__)), "golden.safetensors")
save_file(tensors, path, metadata={"format": "pt"})
