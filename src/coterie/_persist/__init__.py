"""Fitted reducers as files: JSON, ONNX, and files that are whole or not there."""
