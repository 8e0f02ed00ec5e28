"""What exact learning has to know of each kind of neuron, for kernels; `reference_structures` is the twin.

Every input of a neuron is a short vector z_j of natural parameters, in Q planes, and so is their weighted sum
T = sum_j w_j z_j, on which the loss psi(T, y) depends:

  Univariate   Q = 2             L, q
  Isotropic    Q = 1 + D         L, then q for each output
  Diagonal     Q = 2 D           L for each output, then q for each output
  Full         Q = D(D+1)/2 + D  the lower triangle of P row by row, then h
  Bernoulli    Q = 1             the logit

With A a lower triangle such that A'A is the Hessian of psi, the factors of a row are F = A z, its Hessian
is F'F, and its gradient is F'r: `derive` writes A, the root, and r, the residue. All else about learning is
the same for all kinds. A kind is the first argument of each function; Numba chooses when it compiles.
"""
