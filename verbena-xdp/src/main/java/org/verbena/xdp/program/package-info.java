// SPDX-License-Identifier: Apache-2.0
/**
 * The XDP program that finds the flow of a packet, counts it, and hands the packet over: its maps, its instructions, and
 * the table of flows that a process keeps in the maps.
 *
 * <p>A map of the kernel finds equal keys only. So a flow is a key of the fields that it compares, all other bits 0, and
 * each combination of priority and compared bits is a <em>mask</em> in a list; for a packet the program walks through
 * the list, and looks up the packet's key under each mask (tuple space search: Srinivasan, Suri, Varghese, SIGCOMM
 * 1999). All of it is data: whatever flows there are, the program stays the same, and is loaded once.
 *
 * <p>{@link org.verbena.xdp.program.FlowKey}, {@link org.verbena.xdp.program.FlowEntry},
 * {@link org.verbena.xdp.program.MaskList} and {@link org.verbena.xdp.program.FlowCount} draw what is in the maps. The
 * numbers are in the byte order of the processor, which is little-endian on all that Verbena supports, and fields of
 * packets in network order.
 */
package org.verbena.xdp.program;
