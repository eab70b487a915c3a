// SPDX-License-Identifier: Apache-2.0
package org.verbena.erm;

/**
 * Statistics of the remote memory of a connection. Numbers of different threads may be from slightly different moments.
 *
 * @param localRegions regions of this end
 * @param localBytes bytes of them
 * @param remoteRegions regions of the other end
 * @param remoteBytes bytes of them
 * @param copies copies that this end has started
 * @param bytesWritten bytes copied to the other end's memory
 * @param bytesRead bytes copied from it
 * @param failed copies that failed after they were started
 * @param remoteCompletions copies with remote completion
 * @param events events that the program has polled
 * @param stalls copies that were refused with {@code ENOBUFS} because the other end's program had not polled its events
 * @param lateEvents events of deregistered memory, which were dropped
 */
public record RemoteMemoryStatistics(int localRegions, long localBytes, int remoteRegions, long remoteBytes,
        long copies,
        long bytesWritten, long bytesRead, long failed, long remoteCompletions, long events, long stalls,
        long lateEvents) {}
