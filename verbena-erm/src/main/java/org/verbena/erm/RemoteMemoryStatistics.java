// SPDX-License-Identifier: Apache-2.0
package org.verbena.erm;

/**
 * What the remote memory of a connection has come to. Numbers of different threads may be from slightly different moments.
 *
 * @param localRegions regions of this end
 * @param localBytes bytes of them
 * @param remoteRegions regions of the other end
 * @param remoteBytes bytes of them
 * @param copies copies that this end has started
 * @param bytesWritten bytes of those to the other end's memory
 * @param bytesRead bytes of those from it
 * @param failed copies that have failed after they were started
 * @param notices copies that the other end was told of
 * @param events events that the program has taken
 * @param stalls copies that were refused with {@code ENOBUFS} because the other end's program had not taken its events
 * @param lateEvents events that came for memory that had been taken back, and were dropped
 */
public record RemoteMemoryStatistics(int localRegions, long localBytes, int remoteRegions, long remoteBytes,
        long copies,
        long bytesWritten, long bytesRead, long failed, long notices, long events, long stalls, long lateEvents) {}
