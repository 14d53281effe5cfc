package io.bellows.training.collective;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.net.ProtocolException;
import java.net.Socket;
import java.security.GeneralSecurityException;
import java.security.MessageDigest;
import java.security.SecureRandom;
import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;

/**
 * How two ranks show each other that they know the secret, without sending it: each answers a random challenge with an HMAC-SHA256 of
 * both challenges. The one that connects also says who it is.
 */
final class Handshake {

    /** Raised whenever what ranks send changes. */
    static final int PROTOCOL = 1;

    private static final int MAGIC = 0x42656c6c; // "Bell"
    private static final int CHALLENGE = 16;
    private static final int PROOF = 32;
    private static final int PATIENCE_MILLIS = 10_000;

    private final byte[] secret;

    Handshake(byte[] secret) {
        this.secret = secret.clone();
    }

    /**
     * Who connects.
     *
     * @param rank its rank
     * @param generation the attempt it belongs to
     */
    record Party(int rank, long generation) {}

    /** The side that connects. */
    void greet(Socket socket, Party self) throws IOException {
        socket.setSoTimeout(PATIENCE_MILLIS);
        DataOutputStream out = new DataOutputStream(socket.getOutputStream());
        DataInputStream in = new DataInputStream(socket.getInputStream());
        byte[] mine = challenge();
        out.writeInt(MAGIC);
        out.writeInt(PROTOCOL);
        out.write(mine);
        byte[] theirs = in.readNBytes(CHALLENGE);
        require(in.readNBytes(PROOF), proof("listener", mine, theirs, new Party(0, 0)));
        out.writeInt(self.rank());
        out.writeLong(self.generation());
        out.write(proof("caller", mine, theirs, self));
        out.flush();
        socket.setSoTimeout(0);
    }

    /** The side that listens; throws for anybody but {@code wanted}. */
    void answer(Socket socket, Party wanted) throws IOException {
        socket.setSoTimeout(PATIENCE_MILLIS);
        DataOutputStream out = new DataOutputStream(socket.getOutputStream());
        DataInputStream in = new DataInputStream(socket.getInputStream());
        if (in.readInt() != MAGIC || in.readInt() != PROTOCOL) {
            throw new ProtocolException("it does not speak version " + PROTOCOL + " of the ranks' protocol");
        }
        byte[] theirs = in.readNBytes(CHALLENGE);
        byte[] mine = challenge();
        out.write(mine);
        out.write(proof("listener", theirs, mine, new Party(0, 0)));
        out.flush();
        Party caller = new Party(in.readInt(), in.readLong());
        require(in.readNBytes(PROOF), proof("caller", theirs, mine, caller));
        if (!caller.equals(wanted)) {
            throw new ProtocolException("it is rank " + caller.rank() + " of attempt " + caller.generation()
                    + ", expected rank " + wanted.rank() + " of attempt " + wanted.generation());
        }
        socket.setSoTimeout(0);
    }

    private static void require(byte[] given, byte[] expected) throws IOException {
        if (!MessageDigest.isEqual(given, expected)) {
            throw new ProtocolException("it does not know the secret of this run");
        }
    }

    private byte[] proof(String side, byte[] caller, byte[] listener, Party party) {
        try {
            Mac mac = Mac.getInstance("HmacSHA256");
            mac.init(new SecretKeySpec(secret, "HmacSHA256"));
            mac.update(side.getBytes(UTF_8));
            mac.update(caller);
            mac.update(listener);
            return mac.doFinal((party.rank() + " " + party.generation()).getBytes(UTF_8));
        } catch (GeneralSecurityException e) {
            throw new IllegalStateException("Cannot prove who this rank is: this Java has no HmacSHA256", e);
        }
    }

    private static byte[] challenge() {
        byte[] challenge = new byte[CHALLENGE];
        new SecureRandom().nextBytes(challenge);
        return challenge;
    }
}
