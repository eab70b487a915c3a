// SPDX-License-Identifier: Apache-2.0
package org.verbena.stack.packetdrill;

import java.util.List;
import java.util.Map;

/**
 * A script as it was read.
 *
 * @param name of the file
 * @param options of the lines {@code --name=value}; an option without a value has ""
 * @param before the commands without a time before the first event
 * @param events in the order of the file
 * @param after the commands without a time behind the last event
 */
public record Script(String name, Map<String, String> options, List<String> before, List<Event> events,
        List<String> after) {}
