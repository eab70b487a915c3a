// SPDX-License-Identifier: Apache-2.0
package org.verbena.tests.docs;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.stream.Stream;

import javax.xml.parsers.DocumentBuilderFactory;
import javax.xml.parsers.ParserConfigurationException;

import org.w3c.dom.Element;
import org.w3c.dom.NodeList;
import org.xml.sax.SAXException;

/**
 * Draws the modules and their dependencies from the poms, lower modules below. It uses only the JDK, so that {@code
 * docs/diagrams/renew} runs it from its source.
 */
final class ModuleDrawing {
    static final String FILE = "docs/diagrams/modules.svg";

    private static final String PREFIX = "verbena-";
    private static final int BOX = 176;
    private static final int HEIGHT = 86;
    private static final int GAP = 16;
    private static final int ROW = 140;
    private static final int LINE = 29;

    /** A module of the build; {@code isProduct}: whether it is not only for the tree. */
    private record Module(String name, String description, boolean isProduct, List<String> uses) {}

    private record Place(int x, int y) {}

    private final Map<String, Module> modules;
    private final Map<String, Place> places = new LinkedHashMap<>();
    private final StringBuilder out = new StringBuilder();

    private ModuleDrawing(Map<String, Module> modules) {
        this.modules = modules;
    }

    /** Writes the drawing of the tree in the working directory. */
    public static void main(String[] args) throws IOException {
        Files.writeString(Path.of(FILE), svg(Path.of("")));
    }

    /** The drawing of the tree below a folder. */
    static String svg(Path root) throws IOException {
        return new ModuleDrawing(read(root)).draw();
    }

    /** The names of all modules, in the order in which they are built. */
    static List<String> names(Path root) throws IOException {
        return List.copyOf(read(root).keySet());
    }

    private static Map<String, Module> read(Path root) throws IOException {
        Map<String, Module> all = new LinkedHashMap<>();
        for (String name : texts(parse(root.resolve("pom.xml")), "module")) {
            Element pom = parse(root.resolve(name).resolve("pom.xml"));
            if (texts(pom, "packaging").contains("pom")) {
                continue; // it has no code
            }
            List<String> uses = new ArrayList<>();
            NodeList dependencies = pom.getElementsByTagName("dependency");
            for (int i = 0; i < dependencies.getLength(); i++) {
                Element d = (Element) dependencies.item(i);
                String used = texts(d, "artifactId").getFirst();
                if (used.startsWith(PREFIX) && !texts(d, "scope").contains("test")) {
                    uses.add(used);
                }
            }
            all.put(name, new Module(name, texts(pom, "description").getFirst(), texts(pom, "maven.deploy.skip")
                    .isEmpty(), uses));
        }
        return all;
    }

    private static Element parse(Path pom) throws IOException {
        try {
            return DocumentBuilderFactory.newInstance().newDocumentBuilder().parse(pom.toFile()).getDocumentElement();
        } catch (ParserConfigurationException | SAXException e) {
            throw new IOException(pom.toString(), e);
        }
    }

    private static List<String> texts(Element in, String tag) {
        NodeList found = in.getElementsByTagName(tag);
        List<String> texts = new ArrayList<>();
        for (int i = 0; i < found.getLength(); i++) {
            texts.add(found.item(i).getTextContent().strip().replaceAll("\\s+", " "));
        }
        return texts;
    }

    private int level(String name) {
        return modules.get(name).uses.stream().mapToInt(this::level).max().orElse(-1) + 1;
    }

    /** True if there is a downward path of one arrow or more. */
    private boolean reaches(String from, String to) {
        return modules.get(from).uses.stream().anyMatch(u -> u.equals(to) || reaches(u, to));
    }

    private double middle(Module m) {
        return m.uses.stream().filter(places::containsKey).mapToInt(u -> places.get(u).x).average().orElse(0);
    }

    private String draw() {
        Map<Integer, List<Module>> rows = new TreeMap<>();
        modules.values().stream().filter(Module::isProduct).forEach(m -> rows.computeIfAbsent(level(m.name),
                _ -> new ArrayList<>()).add(m));
        List<Module> tree = modules.values().stream().filter(m -> !m.isProduct).toList();
        int columns = Stream.concat(rows.values().stream(), Stream.of(tree)).mapToInt(List::size).max().orElse(1);
        int width = columns * (BOX + GAP) + GAP;
        int height = rows.size() * ROW + HEIGHT + 2 * GAP;
        rows.forEach((level, row) -> {
            row.sort(Comparator.comparingDouble(this::middle)); // a stable sort: else as they are built
            place(row, width, (rows.size() - level) * ROW + GAP);
        });
        place(tree, width, GAP);
        out.append("""
                <svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" font-family="sans-serif">
                <!-- Made by docs/diagrams/renew from the poms. -->
                <defs><marker id="arrow" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" markerHeight="7" orient="auto">\
                <path d="M0 0L8 4L0 8z" fill="#556"/></marker></defs>
                <rect width="%d" height="%d" fill="#fff"/>
                """.formatted(width, height, width, height));
        rows.values().forEach(row -> row.forEach(this::arrows));
        tree.forEach(m -> box(m, "#fff\" stroke-dasharray=\"5 3"));
        rows.values().forEach(row -> row.forEach(m -> box(m, "#eef3fa")));
        out.append(
                "<text x=\"%d\" y=\"%d\" font-size=\"11\" fill=\"#556\">dashed: for this tree alone; these use what is below"
                        .formatted(GAP, GAP + HEIGHT + 18)).append("</text>\n");
        return out.append("</svg>\n").toString();
    }

    private void place(List<Module> row, int width, int y) {
        int step = width / row.size();
        for (int i = 0; i < row.size(); i++) {
            places.put(row.get(i).name, new Place(i * step + step / 2, y));
        }
    }

    /** The dependencies that no path over other modules implies. */
    private void arrows(Module m) {
        Set<String> uses = new HashSet<>(m.uses);
        for (String u : m.uses.stream().filter(u -> m.uses.stream().noneMatch(v -> reaches(v, u))).toList()) {
            if (uses.remove(u)) {
                Place from = places.get(m.name);
                Place to = places.get(u);
                out.append("<path d=\"M%d %dL%d %d\" stroke=\"#556\" marker-end=\"url(#arrow)\"/>%n".formatted(from.x,
                        from.y + HEIGHT, to.x, to.y));
            }
        }
    }

    private void box(Module m, String fill) {
        Place p = places.get(m.name);
        int x = p.x - BOX / 2;
        out.append("<rect x=\"%d\" y=\"%d\" width=\"%d\" height=\"%d\" rx=\"5\" stroke=\"#556\" fill=\"%s\"/>%n"
                .formatted(x,
                        p.y, BOX, HEIGHT, fill));
        out.append("<text x=\"%d\" y=\"%d\" font-size=\"14\" font-weight=\"bold\">%s</text>%n".formatted(x + 8, p.y
                + 19,
                m.name.substring(PREFIX.length())));
        int y = p.y + 35;
        for (String line : lines(m.description)) {
            out.append("<text x=\"%d\" y=\"%d\" font-size=\"10.5\" fill=\"#334\">%s</text>%n".formatted(x + 8, y, line
                    .replace("&", "&amp;").replace("<", "&lt;")));
            y += 13;
        }
    }

    private static List<String> lines(String text) {
        List<String> lines = new ArrayList<>();
        StringBuilder line = new StringBuilder();
        for (String word : text.split(" ", -1)) {
            if (!line.isEmpty() && line.length() + 1 + word.length() > LINE) {
                lines.add(line.toString());
                line.setLength(0);
            }
            line.append(line.isEmpty() ? "" : " ").append(word);
        }
        lines.add(line.toString());
        return lines;
    }
}
