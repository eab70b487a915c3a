// SPDX-License-Identifier: Apache-2.0
/**
 * What an interface carries, packet by packet, without touching it: a program on a packet socket, which learns flows and
 * counts them, and the filter in the words of pcap that is compiled into it.
 */
package org.verbena.xdp.monitor;
