package io.bellows.udfs.loss;

/**
 * The plain policy gradient: {@code loss = −A·logProb}. It is the loss of Group Policy Gradient (Chu et al., arXiv 2504.02546), verl's
 * {@code gpg}, and with importance weights that of REINFORCE (Williams, 1992) in verl's {@code bypass_mode}.
 */
public final class GpgPolicyLoss implements PolicyLoss {

    @Override
    public TokenLosses tokenLosses(PolicyBatch batch) {
        return TokenLosses.of(
                batch,
                t -> TokenLoss.unclipped(
                        -batch.advantage(t) * batch.logProb(t), -batch.advantage(t), -batch.logRatio(t)));
    }
}
