"""Figure 1C: neurons of different layers, and the network, on a heteroskedastic function.

Example: ggln reproduce hetero -o results
"""

from typing import Annotated, Any

import numpy as np
from numpy.typing import NDArray

from ggln.estimators.regressor import GGLNRegressor
from ggln.palette import ORANGE
from ggln.reproduction.shared.options import Option, Seed
from ggln.reproduction.shared.pictures import Axes, Figure, new_figure, styled
from ggln.reproduction.shared.record import Results, machine
from ggln.reproduction.shared.tables import ScoreTable

FloatArray = NDArray[np.float64]

SETTINGS: dict[str, Any] = {"base_model": "feature", "context_dim": 3}
"""The defaults but for two things. There is no regression below the networks: all that is drawn comes from
neurons. And eight contexts a neuron are enough for a curve. The defaults would have 256, which follow the
noise: its deviation is up to three times the height of the curve."""


def true_mean(x: FloatArray) -> FloatArray:
    """mu(x) = 2 (exp(-30 (x - 1/4)^2) + sin(pi x^2)) - 2."""
    mean: FloatArray = 2.0 * (np.exp(-30.0 * (x - 0.25) ** 2) + np.sin(np.pi * x**2)) - 2.0
    return mean


def true_std(x: FloatArray) -> FloatArray:
    """exp(g(x)) with g(x) = sin(2 pi x)."""
    std: FloatArray = np.exp(np.sin(2.0 * np.pi * x))
    return std


def sample(rows: int, seed: int) -> tuple[FloatArray, FloatArray]:
    """Return x uniform on [0, 1] as a column, and y ~ N(mu(x), exp(g(x))^2)."""
    random = np.random.default_rng(seed)
    x = random.random(rows)
    return x[:, None], true_mean(x) + true_std(x) * random.standard_normal(rows)


def run(
    rows: Annotated[int, Option("Samples to learn from.", least=2)] = 5000,
    seed: Seed = 0,
    points: int = 201,
    **settings: Any,
) -> Results:
    """Train on `rows` samples and evaluate on a grid; `settings` replace those of the experiment."""
    settings = SETTINGS | settings
    X, y = sample(rows, seed)
    model = GGLNRegressor(**settings, random_state=seed).fit(X, y)
    grid = np.linspace(0.0, 1.0, points)
    X_test, y_test = sample(rows, seed + 1)
    distribution = model.predict_dist(grid[:, None])
    lower, upper = distribution.interval(0.9)
    layers = model.neurons(grid[:, None])
    tested = model.neurons(X_test)
    neurons = []
    for number, (layer, test) in enumerate(zip(layers, tested, strict=True), start=1):
        nll = test.nll(y_test)
        best = int(nll.argmin())
        neurons.append(
            {
                "layer": number,
                "neuron": best,
                "nll": nll[best],
                "layer_nll": nll.mean(),
                "mean": layer.mean[:, best],
                "std": np.sqrt(layer.variance[:, best]),
            }
        )
    ideal = np.mean(np.log(true_std(X_test[:, 0])) + 0.5 * np.log(2 * np.pi) + 0.5)
    return {
        "experiment": "hetero",
        "paper": "Figure 1C (a picture; the paper gives no numbers)",
        "settings": settings,
        "rows": rows,
        "seed": seed,
        "machine": machine(),
        "nll": -model.predict_dist(X_test).log_prob(y_test).mean(),
        "nll_of_the_truth": ideal,
        "mean_rmse": np.sqrt(np.mean((distribution.mean - true_mean(grid)) ** 2)),
        "log_std_rmse": np.sqrt(np.mean(np.log(distribution.std / true_std(grid)) ** 2)),
        "x": grid,
        "true_mean": true_mean(grid),
        "true_std": true_std(grid),
        "mean": distribution.mean,
        "lower": lower,
        "upper": upper,
        "neurons": neurons,
        "sample_x": X[:500, 0],
        "sample_y": y[:500],
    }


def table(results: Results) -> ScoreTable:
    """Return the mean and the best loss of the neurons of each layer, of the network, and of the truth."""
    mean, best = "NLL, mean of its neurons", "NLL, best neuron"
    lines = {
        f"layer {own['layer']}": {mean: own["layer_nll"], best: own["nll"]} for own in results["neurons"]
    }
    lines["network"] = dict.fromkeys((mean, best), results["nll"])
    lines["the truth"] = dict.fromkeys((mean, best), results["nll_of_the_truth"])
    return ScoreTable(f"{results['rows']} samples, tested on as many", {mean: ".3f", best: ".3f"}, lines)


@styled
def draw(results: Results) -> Figure:
    """Draw the best neuron of the first, the middle and the last layer, and the mixture of all networks."""
    from ggln.plots.neurons import normal_band

    neurons = results["neurons"]
    shown = [neurons[0], neurons[len(neurons) // 2], neurons[-1]]
    figure = new_figure(11, 3.2)
    panels = figure.subplots(1, 4, sharex=True, sharey=True)
    for axes, neuron in zip(panels, shown, strict=False):
        mean, std = np.array(neuron["mean"]), np.array(neuron["std"])
        band(axes, results, mean, normal_band(mean, std))
        axes.set_title(f"best neuron of layer {neuron['layer']}\nNLL {neuron['nll']:.3f}")
    interval = {0.9: (np.array(results["lower"]), np.array(results["upper"]))}
    band(panels[3], results, np.array(results["mean"]), interval)
    scores = f"NLL {results['nll']:.3f} (the truth {results['nll_of_the_truth']:.3f})"
    panels[3].set_title(f"all networks together\n{scores}")
    panels[0].set_ylabel("y")
    handles, labels = panels[0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=len(labels))
    return figure


def band(axes: Axes, results: Results, mean: Any, intervals: Any) -> None:
    """Draw a prediction with its 90 % band over the truth and some of the samples."""
    from ggln.plots.band import BandDisplay
    from ggln.plots.neurons import NORMAL_95

    x, truth, spread = np.array(results["x"]), np.array(results["true_mean"]), np.array(results["true_std"])
    samples = np.array(results["sample_x"]), np.array(results["sample_y"])
    BandDisplay(x=x, mean=mean, intervals=intervals, samples=samples, y_name="").plot(axes, legend=False)
    axes.plot(x, truth, color=ORANGE, label="true mean")
    for sign in (-1, 1):
        label = "true 90 %" if sign == 1 else None
        axes.plot(
            x, truth + sign * NORMAL_95 * spread, color=ORANGE, linestyle="--", linewidth=1, label=label
        )
    axes.set_ylim(-7.5, 5.5)
