// SPDX-License-Identifier: Apache-2.0
/**
 * The interop lab: virtual machines with Linux's own RDMA, {@code rdma_rxe} and the tools of rdma-core and perftest, and
 * rows of commands that run between them and with programs of this host, over a wire that is recorded and checked.
 * {@code lab/run} starts it; {@code docs/lab.md} is about it.
 */
package org.verbena.tests.lab;
