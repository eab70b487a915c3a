// SPDX-License-Identifier: Apache-2.0
package org.verbena.shm.control;

import org.verbena.shm.layout.Adapter;
import org.verbena.shm.layout.QueuePairNumbers;
import org.verbena.shm.memory.Memories;
import org.verbena.shm.pool.Commons;
import org.verbena.verbs.spi.Engine;

/** The parts of a context that its sessions use. */
public record ContextParts(long instance, Adapter adapter, Commons commons, Engine engine, Memories memories,
        QueuePairNumbers numbers) {}
