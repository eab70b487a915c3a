/**
 * The {@code verbena} command: what a person types.
 *
 * <p>{@link org.verbena.cli.Main} holds the list of subcommands; each subcommand is one class. A command parses, calls
 * the public API and prints; it holds no protocol and no layout. Exit codes: 0 ok, 1 failure, 2 wrong usage.
 */
@NullMarked
package org.verbena.cli;

import org.jspecify.annotations.NullMarked;
