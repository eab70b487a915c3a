// SPDX-License-Identifier: Apache-2.0
package org.verbena.cli.interop;

import java.util.Locale;

import com.fasterxml.jackson.databind.node.JsonNodeFactory;

import org.verbena.cli.support.HumanText;
import org.verbena.cli.support.Json;

/** The final report of {@code verbena ucmatose}, {@code udaddy} and {@code rstream}. */
final class CmToolReport {
    private CmToolReport() {}

    static String text(int connections, long count, long size, double seconds) {
        return String.format(Locale.ROOT, "%s, %s of %d bytes each way in %.2f seconds, contents compared",
                HumanText.count(connections, "connection"), HumanText.count(count, "message"), size, seconds);
    }

    static String json(boolean server, int connections, long count, long size, double seconds) {
        return Json.text(JsonNodeFactory.instance.objectNode()
                .put("role", server ? "server" : "client").put("connections", connections).put("messages", count)
                .put("size", size).put("seconds", Json.seconds(seconds)));
    }
}
