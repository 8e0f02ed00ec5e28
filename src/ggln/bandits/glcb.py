"""`GLCB`: contextual bandits with gated linear networks."""
import numpy as np
from ggln.core.arm_learner import ArmLearner, Decisions
from ggln.core.build import Settings
from ggln.core.threads import Threads
from ggln.bandits.exploration import COUNTS, RULES, choose

class GLCB:
    def __init__(self, n_arms, exploration="bonus", weight=1.0, counts="mean", reward_range=(0.,1.), seed=0, features=2, **changes):
        s=dict(layer_sizes=(1000,100,1),context_dim=1,n_estimators=1,gating="sphere",gating_bias=0.05,base_model="feature",base_variance=1.0,bias_range=5.0,bias_variance=1.0,learning_rate=3e-3,step="ogd",projection="clip",barrier=1e-6,weight_range=(0.,1e3),min_variance=1e-2,max_variance=1e2,aggregation="last",covariance="isotropic",standardize=True,features=features,outputs=1,seed=seed)
        self.learner=ArmLearner(Settings(**s|changes),n_arms,reward_range)
        self.rule=RULES[exploration]; self.weight=weight; self.counts=COUNTS[counts]; self.random=np.random.default_rng(seed); self.threads=Threads(1)
        self.kind=counts
    def select(self,x):
        f=self.learner.forecast(x[None])
        n=self.counts(f)[:,0].copy()
        n[self.learner.arms.plays==0]=0
        if (n<=0).any(): return choose(n,n,self.random)
        return choose(self.rule(f,n[:,None],max(self.learner.rows,1),self.weight,self.random)[:,0],n,self.random)
    def update(self,x,arm,reward):
        self.learner.learn(Decisions(x[None],np.array([arm]),np.array([[reward]]),np.ones(1)),self.threads)
