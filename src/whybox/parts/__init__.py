"""The hand-built Transformer in NumPy, one idea a file. Pure functions; the dtype that comes in goes out.

In the order of the computation: embedding · position (rope) · norm · linear · attention (mask, softmax) · mlp (moe) ·
block · decoder; then what serving adds: cache · paged · flash; and another way to retrieve: kernels.
"""
