// SPDX-License-Identifier: Apache-2.0
package org.verbena.roce.cm;

import org.verbena.verbs.Gid;

/**
 * A message of the connection manager (IBTA volume 1, 12.6). Numbers are as on the wire, unsigned in their width;
 * time-outs {@code t} are 4.096 µs times 2^t. Fields that are not set are zero. Immutable.
 */
public sealed interface CmMessage {
    /** {@link Rej}, {@link Mra}: about a request. */
    int MESSAGE_REQ = 0;
    /** {@link Rej}, {@link Mra}: about a reply. */
    int MESSAGE_REP = 1;
    /** {@link Rej}: about no message, as after a time-out. */
    int MESSAGE_OTHER = 2;

    /** {@link Req#transport}: reliable. */
    int RC = 0;
    /** {@link Req#transport}: unreliable. */
    int UC = 1;
    /** {@link Req#transport}: see {@link Req#extendedTransport}. */
    int EXTENDED = 3;
    /** {@link Req#extendedTransport}: XRC. */
    int XRC = 1;

    /** Number of the exchange; a reply has that of its request. */
    long transaction();

    /**
     * The path of the connection's packets.
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
     * REQ, 12.6.5: the sender requests a connection.
     *
     * @param localId the sender's number of the connection
     * @param serviceId the requested service
     * @param caGuid of the sender's adapter
     * @param qkey unused for queue pairs of these types
     * @param queuePair the sender's, 24 bits
     * @param responderResources limit of the reads and atomics that the sender accepts at a time, 8 bits
     * @param initiatorDepth reads and atomics that the sender wants to have outstanding, 8 bits
     * @param remoteTimeout how long the receiver may take to reply, 5 bits
     * @param localTimeout how long the sender may take to reply, 5 bits
     * @param maxRetries number of retransmissions of messages, 4 bits
     * @param transport {@link #RC}, {@link #UC} or {@link #EXTENDED}
     * @param extendedTransport {@link #XRC} or 0
     * @param startingPsn of the first packet that the receiver of this message will send, 24 bits
     * @param retryCount of the queue pairs, 3 bits
     * @param rnrRetry of the receiver's queue pair, 3 bits
     * @param srq whether the sender has a shared receive queue
     * @param pkey 16 bits
     * @param pathMtu code, 1 for 256 to 5 for 4096 bytes
     * @param route the path of packets
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
     * @param qkey unused for queue pairs of these types
     * @param queuePair the sender's, 24 bits; for XRC that of its target, too
     * @param startingPsn of the first packet that the receiver of this message will send, 24 bits
     * @param responderResources limit of the reads and atomics that the sender accepts at a time, 8 bits
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
     * REJ, 12.6.7: the sender rejects the connection, or has abandoned it.
     *
     * @param about {@link #MESSAGE_REQ}, {@link #MESSAGE_REP} or {@link #MESSAGE_OTHER}
     * @param reason see {@link RejectReason}
     * @param info additional information for the reason, at most 72 bytes: for a time-out the sender's GUID, by which
     *        the receiver finds the connection
     * @param data 148 bytes
     */
    record Rej(long transaction, int localId, int remoteId, int about, int reason, PrivateData info,
            PrivateData data) implements CmMessage {}

    /**
     * MRA, 12.6.6: the sender has received a message, and needs more time to reply.
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
     * DREP, 12.6.11: the sender has received the DREQ.
     *
     * @param data 224 bytes
     */
    record Drep(long transaction, int localId, int remoteId, PrivateData data) implements CmMessage {}

    /**
     * SIDR_REQ, 12.11.2.1: requests the queue pair of type UD that provides a service.
     *
     * @param requestId the sender's number of the request
     * @param pkey 16 bits
     * @param data 216 bytes
     */
    record SidrReq(long transaction, int requestId, int pkey, long serviceId, PrivateData data) implements CmMessage {}

    /**
     * SIDR_REP, 12.11.2.2.
     *
     * @param requestId of the request
     * @param status 0 if the rest is valid; 1 if there is no such service, 2 if it is rejected, 3 if it has no queue
     *        pair
     * @param queuePair 24 bits
     * @param qkey the Q_Key for datagrams
     * @param data 136 bytes
     */
    record SidrRep(long transaction, int requestId, int status, int queuePair, long serviceId, int qkey,
            PrivateData data) implements CmMessage {}
}
