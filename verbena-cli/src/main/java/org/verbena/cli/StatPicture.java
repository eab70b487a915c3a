package org.verbena.cli;

import java.time.Instant;
import java.util.List;

/**
 * What was seen at one look. Immutable.
 *
 * @param time when
 * @param processes by number
 * @param problems what could not be seen, a sentence each
 */
record StatPicture(Instant time, List<StatProcess> processes, List<String> problems) {}
