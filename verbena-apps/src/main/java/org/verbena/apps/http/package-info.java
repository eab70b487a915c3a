// SPDX-License-Identifier: Apache-2.0
/** Servers and clients of HTTP: the JDK's, Jetty's, Netty's. */
@org.jspecify.annotations.NullMarked
package org.verbena.apps.http;
