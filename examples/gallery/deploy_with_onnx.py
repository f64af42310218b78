"""
Deployment: one file that needs neither coterie nor Python
==========================================================

A model for the breast cancer data of scikit-learn (569 biopsies, 30 measurements that come in
threes: radius, perimeter and area are nearly one number). It is trained here, and runs
somewhere else: in a service without scikit-learn, a browser, a device. ONNX is a file format
for that.
"""

import tempfile
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
import onnxruntime
from skl2onnx import to_onnx
from sklearn.datasets import load_breast_cancer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import coterie

X, y = load_breast_cancer(return_X_y=True, as_frame=True)
X_train, X_test, y_train, y_test = train_test_split(X, y, stratify=y, random_state=0)
# inputs=None: the columns as they are. Ranks would have to be computed before the file.
pipeline = make_pipeline(coterie.Coterie(inputs=None), StandardScaler(), LogisticRegression())
pipeline.fit(X_train, y_train)
reducer = pipeline[0]
for name, likeness in zip(reducer.get_feature_names_out(), reducer.stability_, strict=True):
    print(f"{name}  (found again: {likeness:.0%})")
print(f"accuracy on held-out rows: {pipeline.score(X_test, y_test):.3f}")

# %%
# What became of the thirty measurements, as a tree of what is alike:

figure, axes = plt.subplots(figsize=(7.5, 6.0), layout="constrained")
coterie.plot.plot_tree(reducer, ax=axes)

# %%
# ``coterie.to_onnx`` exports the reducer; the rest of the pipeline goes with skl2onnx. Two small
# graphs, run one after the other. ONNX computes in single precision, so probabilities agree to
# about six digits.

folder = Path(tempfile.mkdtemp())
(folder / "groups.onnx").write_bytes(coterie.to_onnx(reducer).SerializeToString())
columns = np.asarray(reducer.transform(X_train), dtype=np.float32)
model = to_onnx(pipeline[1:], columns[:1], options={"zipmap": False})
(folder / "model.onnx").write_bytes(model.SerializeToString())


def run(file, rows):
    """What a file says about some rows; no scikit-learn and no coterie."""
    session = onnxruntime.InferenceSession(folder / file)
    return session.run(None, {session.get_inputs()[0].name: rows.astype(np.float32)})


reduced = run("groups.onnx", X_test.to_numpy())[0]
labels, chances = run("model.onnx", reduced)
difference = np.abs(chances - pipeline.predict_proba(X_test)).max()
print(f"largest difference of a probability: {difference:.0e}")
for file in sorted(folder.iterdir()):
    print(f"{file.name}: {file.stat().st_size / 1000:.1f} kB")

# %%
# Inside Python, a fitted reducer is saved as JSON without pickle, so that nobody has to trust the
# file:

reducer.save(folder / "groups.json")
again = coterie.load(folder / "groups.json")
print(bool((np.asarray(again.transform(X_test)) == np.asarray(reducer.transform(X_test))).all()))
