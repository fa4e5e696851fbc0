package editor

// test is the spec of a RuleTest.
func test() node {
	return object(
		required("rules", "Files or directories of rules, relative to the test.", listOf(notBlank())),
		optional("now", "The instant of the test, RFC 3339; default 2026-01-01T00:00:00Z.",
			with(text(), "format", "date-time")),
		required("cases", "Each is one evaluation of its objects.", listOf(reference("case"))),
	)
}

func testCase() node {
	return object(
		required("name", "One line, which names the golden too.", with(notBlank(), "maxLength", 120)),
		required("objects", "Files with one or more objects each, relative to the test. Every object is evaluated once, in order.", listOf(notBlank())),
		optional("golden", "Default: golden/<name of the case>.yaml beside the test.", notBlank()),
	)
}
