// SPDX-License-Identifier: Apache-2.0
/** Classic sockets: {@code Socket}, {@code ServerSocket} and their users, in processes with the agent and without. */
package org.verbena.tests.classic;
