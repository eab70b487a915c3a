// SPDX-License-Identifier: Apache-2.0
package org.verbena.roce.transport;

/** Why a packet was dropped silently. */
public enum DropReason {
    /** Shorter than its headers claim, wrong padding, or not a multiple of 4. */
    MALFORMED,
    /** A transport version other than 0. */
    VERSION,
    /** An opcode that does not exist, or that the queue pair's type does not support. */
    OPCODE,
    /** No such queue pair, or not in a state that receives. */
    QUEUE_PAIR,
    /** A partition key that is not the default one: {@code bad_pkey_cntr}. */
    PKEY,
    /** A wrong queue key: {@code qkey_viol_cntr}. */
    QKEY,
    /** Not from the address that the queue pair is connected to. */
    ADDRESS,
    /** Not expected in the state of the connection: stale responses, requests behind a gap. */
    SEQUENCE,
    /** An unreliable message that found no receive, did not fit, or lost a packet. */
    UNRELIABLE
}
