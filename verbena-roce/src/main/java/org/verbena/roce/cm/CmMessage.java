// SPDX-License-Identifier: Apache-2.0
package org.verbena.roce.cm;

import org.verbena.verbs.Gid;

/**
 * A message of the connection manager (IBTA volume 1, 12.6). Numbers are as on the wire, unsigned in their width; time-outs
 * {@code t} are 4.096 µs times 2^t. What the user of a message does not set is zero. Immutable.
 */
public sealed interface CmMessage {
    /** {@link Rej}, {@link Mra}: about a request. */
    int MESSAGE_REQ = 0;
    /** {@link Rej}, {@link Mra}: about a reply. */
    int MESSAGE_REP = 1;
    /** {@link Rej}: about no message, as when none came. */
    int MESSAGE_OTHER = 2;

    /** {@link Req#transport}: reliable. */
    int RC = 0;
    /** {@link Req#transport}: unreliable. */
    int UC = 1;
    /** {@link Req#transport}: see {@link Req#extendedTransport}. */
    int EXTENDED = 3;
    /** {@link Req#extendedTransport}: XRC. */
    int XRC = 1;

    /** Number of the exchange that this belongs to; an answer has that of the question. */
    long transaction();

    /**
     * How packets of the connection go.
     *
     * @param local the sender's GID
     * @param remote the receiver's GID
     * @param flowLabel 20 bits
     * @param rate 6 bits, see {@link org.verbena.verbs.Rate}
     * @param trafficClass 8 bits
     * @param hopLimit 8 bits
     * @param ackTimeout 5 bits
     */
    record Route(Gid local, Gid remote, int flowLabel, int rate, int trafficClass, int hopLimit, int ackTimeout) {}

    /**
     * REQ, 12.6.5: the sender wants to connect.
     *
     * @param localId the sender's number of the connection
     * @param serviceId what it wants to be connected with
     * @param caGuid of the sender's adapter
     * @param qkey which queue pairs of these types have no use for
     * @param queuePair the sender's, 24 bits
     * @param responderResources reads and atomics that the sender takes at a time, 8 bits
     * @param initiatorDepth reads and atomics that the sender wants to have outstanding, 8 bits
     * @param remoteTimeout how soon the receiver has to answer, 5 bits
     * @param localTimeout how soon the sender answers, 5 bits
     * @param maxRetries how often messages are repeated, 4 bits
     * @param transport {@link #RC}, {@link #UC} or {@link #EXTENDED}
     * @param extendedTransport {@link #XRC} or 0
     * @param startingPsn of the first packet that the receiver of this message will send, 24 bits
     * @param retryCount of the queue pairs, 3 bits
     * @param rnrRetry of the receiver's queue pair, 3 bits
     * @param srq whether the sender has a shared receive queue
     * @param pkey 16 bits
     * @param pathMtu code, 1 for 256 to 5 for 4096 bytes
     * @param route how packets go
     * @param data 92 bytes
     */
    record Req(long transaction, int localId, long serviceId, long caGuid, int qkey, int queuePair,
            int responderResources,
            int initiatorDepth, int remoteTimeout, int localTimeout, int maxRetries, int transport,
            int extendedTransport, int startingPsn, int retryCount, int rnrRetry, boolean srq, int pkey, int pathMtu,
            Route route, PrivateData data) implements CmMessage {}

    /**
     * REP, 12.6.8: the sender accepts.
     *
     * @param localId the sender's number of the connection
     * @param remoteId the receiver's
     * @param qkey which queue pairs of these types have no use for
     * @param queuePair the sender's, 24 bits; for XRC that of its target, too
     * @param startingPsn of the first packet that the receiver of this message will send, 24 bits
     * @param responderResources reads and atomics that the sender takes at a time, 8 bits
     * @param initiatorDepth reads and atomics that the sender will have outstanding, 8 bits
     * @param ackDelay how long the sender may take to acknowledge a packet, 5 bits
     * @param rnrRetry of the receiver's queue pair, 3 bits
     * @param srq whether the sender has a shared receive queue
     * @param caGuid of the sender's adapter
     * @param data 196 bytes
     */
    record Rep(long transaction, int localId, int remoteId, int qkey, int queuePair, int startingPsn,
            int responderResources,
            int initiatorDepth, int ackDelay, int rnrRetry, boolean srq, long caGuid, PrivateData data)
            implements
                CmMessage {}

    /**
     * RTU, 12.6.9: the sender can receive.
     *
     * @param data 224 bytes
     */
    record Rtu(long transaction, int localId, int remoteId, PrivateData data) implements CmMessage {}

    /**
     * REJ, 12.6.7: the sender does not want the connection, or has given up.
     *
     * @param about {@link #MESSAGE_REQ}, {@link #MESSAGE_REP} or {@link #MESSAGE_OTHER}
     * @param reason see {@link RejectReason}
     * @param info what the reason needs, at most 72 bytes: of a time-out the sender's GUID, by which the receiver finds the
     *     connection
     * @param data 148 bytes
     */
    record Rej(long transaction, int localId, int remoteId, int about, int reason, PrivateData info,
            PrivateData data) implements CmMessage {}

    /**
     * MRA, 12.6.6: the sender has got a message, and needs more time to answer.
     *
     * @param about {@link #MESSAGE_REQ} or {@link #MESSAGE_REP}
     * @param serviceTimeout how long, 5 bits
     * @param data 222 bytes
     */
    record Mra(long transaction, int localId, int remoteId, int about, int serviceTimeout, PrivateData data)
            implements
                CmMessage {}

    /**
     * DREQ, 12.6.10: the sender ends the connection.
     *
     * @param queuePair the receiver's, 24 bits
     * @param data 220 bytes
     */
    record Dreq(long transaction, int localId, int remoteId, int queuePair, PrivateData data)
            implements
                CmMessage {}

    /**
     * DREP, 12.6.11: the sender knows that the connection has ended.
     *
     * @param data 224 bytes
     */
    record Drep(long transaction, int localId, int remoteId, PrivateData data) implements CmMessage {}

    /**
     * SIDR_REQ, 12.11.2.1: which queue pair of type UD provides a service?
     *
     * @param requestId the sender's number of the question
     * @param pkey 16 bits
     * @param data 216 bytes
     */
    record SidrReq(long transaction, int requestId, int pkey, long serviceId, PrivateData data) implements CmMessage {}

    /**
     * SIDR_REP, 12.11.2.2.
     *
     * @param requestId of the question
     * @param status 0 if the rest is valid; 1 if there is no such service, 2 if it is refused, 3 if it has no queue pair
     * @param queuePair 24 bits
     * @param qkey that datagrams need
     * @param data 136 bytes
     */
    record SidrRep(long transaction, int requestId, int status, int queuePair, long serviceId, int qkey,
            PrivateData data) implements CmMessage {}
}
