package io.bellows.text.jinja;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.time.Clock;
import java.time.Instant;
import java.time.ZoneOffset;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class JinjaTemplateTest {

    @Test
    void knowsWhichTextTheTemplateWrote() {
        RenderedText text = render("[{{ m.strip() | upper }}|{{ m[2:4] ~ '-' ~ m }}]", Map.of("m", "  ab "));
        assertThat(text.value()).isEqualTo("[AB|ab-  ab ]");
        assertThat(text.contentSpans()).containsExactly(1, 3, 4, 6, 7, 12);
        assertThat(text.isTemplateText(0, 1)).isTrue();
        assertThat(text.isTemplateText(3, 4)).isTrue();
        assertThat(text.isTemplateText(3, 5)).isFalse();
        assertThat(text.isTemplateText(5, 13)).isFalse();
        assertThat(text.isTemplateText(12, 13)).isTrue();
        assertThat(text.prefix(5).contentSpans()).containsExactly(1, 3, 4, 5);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "{{ m | replace('b', 'X') }}",
                "{{ ['a', m] | join('X') }}",
                "{{ 'aXb'.replace('X', m) }}",
                "{% set x %}{{ m }}{% endset %}{{ x }}",
                "{% macro f(x) %}{{ x }}{% endmacro %}{{ f(m) }}",
                "{% for c in m %}{{ c }}{% endfor %}",
                "{{ m.split('X') | first }}",
                "{{ m[::-1] }}",
                "{{ [m] }}",
                "{{ {'k': m} | tojson }}",
                "{{ m * 2 }}",
                "{{ m | title }}",
                "{{ m.splitlines() | last }}",
                "{{ [m] | map('lower') | join }}",
                "{% filter trim %}{{ m }}{% endfilter %}",
                "{{ m | indent(2, true) }}"
            })
    void whatComesFromContentStaysContent(String template) {
        RenderedText text = render(template, Map.of("m", "abc"));
        int[] spans = text.contentSpans();
        for (int i = 0; i < text.value().length(); i++) {
            int at = i;
            boolean content =
                    IntStream.range(0, spans.length / 2).anyMatch(k -> spans[2 * k] <= at && at < spans[2 * k + 1]);
            if ("abcABC".indexOf(text.value().charAt(i)) >= 0 && !template.contains("'a")) {
                assertThat(content).as("%s of %s", i, text).isTrue();
            }
        }
        assertThat(spans).isNotEmpty();
    }

    @ParameterizedTest
    @CsvSource(delimiter = '@', textBlock = """
                    x\\n{% include 'y' %}      @ Unsupported tag 'include' (line 2 of the chat template)
                    {{ x\\n\\n| nofilter }}    @ Unsupported filter 'nofilter' (line 3 of the chat template)
                    {% import 'a' as b %}      @ Unsupported tag 'import' (line 1 of the chat template)
                    \\n{{ 1 is hot }}          @ Unsupported test 'hot' (line 2 of the chat template)
                    {{ 'a'.zfill(3) }}         @ Unsupported method 'zfill' of a str (line 1 of the chat template)
                    {{ [].append(1) }}         @ Unsupported method 'append' of a list (line 1 of the chat template)
                    {{ cycler('a') }}          @ Unsupported function 'cycler' (line 1 of the chat template)
                    {{ f(*x) }}                @ Unsupported argument '*…' of a call (line 1 of the chat template)
                    {{ '%s' % 1 }}             @ Unsupported operator '%' on a str (line 1 of the chat template)
                    {% for x in y recursive %} @ Unsupported recursive 'for' (line 1 of the chat template)
                    {{ nope.a }}               @ Cannot use an undefined value: 'nope' is undefined (line 1 of the chat template)
                    {{ raise_exception('No') }}@ Cannot render the conversation: No (line 1 of the chat template)
                    {% if x %}\\n              @ Invalid tag 'if': it has no 'endif' (line 1 of the chat template)
                    {{ range(2) }}             @ Unsupported printing of a range; turn it into a list first (line 1 of the chat template)
                    """)
    void namesConstructAndLine(String template, String message) {
        assertThatThrownBy(() -> render(template.replace("\\n", "\n"), Map.of()))
                .isInstanceOf(TemplateException.class)
                .hasMessage(message);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "{% macro f() %}{{ f() }}{% endmacro %}{{ f() }}",
                "{% for a in range(90000) %}{% for b in range(90000) %}{% endfor %}{% endfor %}",
                "{% set ns = namespace(x='ab') %}{% for i in range(60) %}{% set ns.x = ns.x + ns.x %}{% endfor %}",
                "{% set ns = namespace(x=[1]) %}{% for i in range(60) %}{% set ns.x = ns.x + ns.x %}{% endfor %}",
                "{% set ns = namespace(x=[]) %}{% for i in range(60) %}{% set ns.x = [ns.x, ns.x] %}{% endfor %}{{ ns.x }}",
                "{% set ns = namespace(x=[]) %}{% for i in range(600) %}{% set ns.x = [ns.x] %}{% endfor %}{{ ns.x }}",
                "{% set a = namespace(x=[1]) %}{% set b = namespace(x=[1]) %}{% for i in range(60) %}"
                        + "{% set a.x = [a.x, a.x] %}{% set b.x = [b.x, b.x] %}{% endfor %}{{ a.x == b.x }}",
                "{{ 'x' * 100000000 }}",
                "{{ [1] * 1000000000 }}",
                "{{ range(1000000000) }}",
                "{{ 10 ** 1000000 }}",
                "{% for i in range(90000) %}{{ 'x' * 1000 }}{% endfor %}"
            })
    void aHostileTemplateComesToAnEnd(String template) {
        assertThatThrownBy(() -> render(template, Map.of()))
                .isInstanceOf(TemplateException.class)
                .hasMessageStartingWith("Cannot");
    }

    @Test
    void deepNestingIsRefusedBeforeTheStackEnds() {
        Map<String, String> nesting =
                Map.of("(", ")", "[", "]", "-", "", "not ", "", "{1:", "}", "a[", "]", "a if b else ", "", "f(", ")");
        for (String open : nesting.keySet()) {
            String close = nesting.get(open);
            String template = "{{ " + open.repeat(50_000) + "1" + close.repeat(50_000) + " }}";
            assertThatThrownBy(() -> JinjaTemplate.parse(template))
                    .isInstanceOf(TemplateException.class)
                    .hasMessageStartingWith("Cannot read the template: it nests more than 100 deep");
        }
        assertThatThrownBy(() -> JinjaTemplate.parse("{% if a %}".repeat(50_000)))
                .hasMessageStartingWith("Cannot read the template: it nests more than 100 deep");
        String chain = "{{ 1" + " + 1".repeat(50_000) + " }}";
        assertThatThrownBy(() -> render(chain, Map.of()))
                .hasMessageStartingWith("Cannot render the template: calls and expressions nest more than");
    }

    @Test
    void strftimeNowReadsTheClock() {
        Clock clock = Clock.fixed(Instant.parse("2024-07-05T13:04:09Z"), ZoneOffset.UTC);
        String template = "{{ strftime_now('%d %b %Y|%B %A %a|%H:%M:%S %I %p|%j %y %m|%-d %e|%F %%') }}";
        assertThat(JinjaTemplate.parse(template, clock)
                        .render(Map.of(), Map.of())
                        .value())
                .isEqualTo("05 Jul 2024|July Friday Fri|13:04:09 01 PM|187 24 07|5  5|2024-07-05 %");
        assertThatThrownBy(() ->
                        JinjaTemplate.parse("{{ strftime_now('%Q') }}", clock).render(Map.of(), Map.of()))
                .hasMessage("Unsupported directive '%Q' of strftime_now (line 1 of the chat template)");
    }

    @Test
    void variablesOfJavaAreThoseOfPython() {
        assertThat(render(
                                "{{ a }} {{ b }} {{ c }} {{ d }}",
                                Map.of("a", 1, "b", List.of("x", true), "c", 2.0f, "d", Map.of("k", 1L)))
                        .value())
                .isEqualTo("1 ['x', True] 2.0 {'k': 1}");
        assertThatThrownBy(() -> render("", Map.of("a", new Object())))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageStartingWith("Unsupported variable of a chat template: a java.lang.Object");
    }

    private static RenderedText render(String template, Map<String, ?> content) {
        return JinjaTemplate.parse(template).render(content, Map.of());
    }
}
