package function_test

import (
	"errors"
	"fmt"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/dyncontroller/dyncontroller/pkg/rules/expression"
	"github.com/dyncontroller/dyncontroller/pkg/rules/expression/value"
)

// texts are the input of the hostile expressions by their names.
type texts map[string]string

func (x texts) Value(slot int) (any, error) { return x[hostileNames[slot]], nil }

var hostileNames = []string{"digits", "letters", "brackets", "dashes", "commas", "lines", "questions", "comments", "bomb", "cycle", "fields", "address"}

func hostileTexts() texts {
	bomb := "a0: &a0 [x, x]\n"
	for i := range 30 {
		bomb += fmt.Sprintf("a%d: &a%d [*a%d, *a%d]\n", i+1, i+1, i, i)
	}
	return texts{
		"digits": "1" + strings.Repeat("0", 100_000), "letters": strings.Repeat("a", 100_000),
		"brackets": strings.Repeat("[", 100_000), "dashes": strings.Repeat("- ", 50_000), "commas": "[" + strings.Repeat("a,", 50_000) + "]",
		"lines": strings.Repeat("- a\n", 25_000), "questions": strings.Repeat("? ", 50_000), "comments": strings.Repeat("- a #\n#b\n", 11_000),
		"bomb": bomb, "cycle": "&a [*a, *a]", "fields": "https://x/?" + strings.Repeat("a&", 50_000), "address": "::" + strings.Repeat("0", 100_000),
	}
}

// often evaluates a condition a million times without a long list.
func often(condition string) string {
	return "any(1..100, any(1..100, any(1..100, " + condition + ")))"
}

// hostileCalls are stopped, by the budget or because what they are given is wrong.
var hostileCalls = []string{
	`quantity("1" + repeat("0", 100000))`, `quantity(digits)`, `quantity("1e999999999")`, `quantity("1e-999999999")`, `quantity("0." + digits)`,
	`quantity(digits + "e99")`, often(`quantity("1.5Gi") == nil`), `map(1..50000, quantity(string(#) + "Gi"))`, `sum(1..100000, quantity(string(#)))`,
	`len(toJSON(map(1..50000, quantity(#))))`, often(`string(quantity(#)) == ""`), often(`quantity("1Gi") < string(#)`),
	`reduce(1..64, #acc + #acc, quantity("1"))`, often(`quantity("1") + "1Gi" == "7"`), `sort(map(1..50000, quantity(#)))`,
	`semver(letters)`, `semver("1." + digits)`, `semver("1.0.0-" + repeat("a.", 50000))`,
	`let v = semver("1.0.0-" + repeat("a.", 60) + "a"); let l = map(1..1000, v); any(l, {let x = #; any(l, # != x)})`,
	`let v = map(1..20000, semver("1.0.0-" + repeat("a.", 55) + string(#))); sort(v)`, often(`semver("1.0") > "1.1." + string(#)`),
	`duration(letters)`, `duration(digits + "s")`, `duration(repeat("1h", 50000))`, often(`duration(string(#) + "s") < "0s"`),
	`reduce(1..100, #acc + #acc, duration("1h"))`, `reduce(1..100, 2 * #acc, duration("1h"))`, often(`duration(#) == nil`),
	`timestamp(digits)`, `timestamp("2026-01-01T00:00:00." + digits + "Z")`, often(`timestamp("2026-01-01T00:00:00Z") + # < "2026-01-01T00:00:00Z"`),
	`reduce(1..10000, #acc + "2000d", timestamp("2026-01-01T00:00:00Z"))`,
	`cidrContains(address, "::1")`, `cidrContains("::/0", address)`, `cidrContains(letters, letters)`, `cidrContains("10.0.0.0/" + digits, "10.0.0.1")`,
	often(`cidrContains("fd00::/8", "10.0.0.1")`), `map(1..1000, url(fields))`, `url("http://" + letters + "%")`, `url(fields)`, often(`url(letters) == nil`),
	often(`sha256("a") == ""`), `any(1..1000, sha256(letters) == "")`, `reduce(1..60000, sha256(#acc), "a")`,
	`fromYAML(brackets)`, `fromYAML(dashes)`, `fromYAML(commas)`, `fromYAML(lines)`, `fromYAML(questions)`, `fromYAML(comments)`, `fromYAML(bomb)`, `fromYAML(cycle)`,
	`fromYAML("a: &a [" + repeat("x,", 1000) + "]\n" + "b: [" + repeat("*a,", 1000) + "]")`, often(`fromYAML("a: 1") == nil`),
	`toYAML(reduce(1..200, [#acc], repeat("a\n", 50000)))`, `toYAML(reduce(1..200, [#acc], map(1..3000, 1)))`, `let a = map(1..1000, letters); toYAML(map(1..1000, a))`,
	`toYAML(reduce(1..25, [#acc, #acc], 1))`, `toYAML(reduce(1..300, [#acc], 1))`, often(`toYAML([#]) == ""`), `map(1..100, toYAML(repeat("\u0001", 50000)))`,
	often(`jitter("a", 0, 9) == nil`), `map(1..1000, jitter(letters, 0, 9))`, `jitter("a", duration("1h"), "1m")`,
	`groups(1..60000, #)`, `groups(1..1000, letters + string(#))`, `groups(map(1..1000, [letters]), #)`, `uniq(map(1..50000, quantity(#)))`,
	often(`labelsMatch({}, {matchLabels: {a: "b"}})`),
	`let s = {matchExpressions: [{key: "a", operator: "NotIn", values: map(1..10000, "x")}]}; any(1..10000, !labelsMatch({a: 1}, s))`,
	`let o = {metadata: {ownerReferences: map(1..10000, {{kind: "x"}})}}; any(1..10000, controllerOf(o) != nil)`,
	often(`controllerRef({apiVersion: "v1", kind: "A", metadata: {name: "a", uid: "b"}}) == nil`),
}

// TestHostileCalls evaluates each up to the value that is ready to be written. The
// memory that it ever allocates stays below the bound for what it may hold at
// once, and the time on a processor below ten times the bound, for -race.
func TestHostileCalls(t *testing.T) {
	const bytes, cpu = 16 << 20, 10 * 50 * time.Millisecond
	input := hostileTexts()
	size := 0
	for _, text := range input {
		size = max(size, value.Size(text))
	}
	for _, source := range hostileCalls {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		start := processorTime(t)
		err := writtenOut(source, input, size)
		spent := processorTime(t) - start
		runtime.ReadMemStats(&after)
		fault, isFault := errors.AsType[*value.Fault](err)
		if err == nil || !errors.Is(err, value.ErrBudget) && !isFault {
			t.Errorf("%s: %v, want an error about the budget or a value", source, err)
		}
		if isFault && len(fault.Error()) > 300 {
			t.Errorf("%s: the message is %d bytes long", source, len(fault.Error()))
		}
		used := after.TotalAlloc - before.TotalAlloc
		t.Logf("%6d KiB %8v %.100s", used>>10, spent.Round(100*time.Microsecond), source)
		if used > bytes || spent > cpu {
			t.Errorf("%s: allocated %d KiB and took %v", source, used>>10, spent)
		}
	}
}

func writtenOut(source string, input texts, size int) error {
	p, err := expression.Compile(source, expression.NewScope(hostileNames...))
	if err != nil {
		return err
	}
	e := &expression.Evaluation{Names: input, Budget: value.NewBudget(size)}
	v, err := p.Eval(e)
	if err != nil {
		return err
	}
	_, err = value.Strip(v, e.Budget)
	return err
}

func processorTime(t *testing.T) time.Duration {
	t.Helper()
	var usage syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage); err != nil {
		t.Fatal(err)
	}
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
}
