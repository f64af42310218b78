"""Fitted reducers as files: JSON, ONNX, and atomic writes."""
