// Command probe measures what one case of the corpus costs: it loads and evaluates the case as the controller would and
// prints a [hostile.Result] as JSON. The test of package hostile runs it, a process for each case.
package main

import (
	"cmp"
	"encoding/json"
	"fmt"
	"os"
	"runtime"

	"github.com/dyncontroller/dyncontroller/pkg/rules/schema"
	"github.com/dyncontroller/dyncontroller/test/hostile"
)

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "probe:", err)
		os.Exit(1)
	}
}

func run(args []string) error {
	if len(args) != 1 {
		return fmt.Errorf("want the name of one case, have %q", args)
	}
	if err := contain(); err != nil {
		return err
	}
	c, err := hostile.Find(args[0])
	if err != nil {
		return err
	}
	text, err := c.Text()
	if err != nil {
		return err
	}
	object := hostile.Object()
	var known *schema.Catalog
	if c.Kind == hostile.Typed {
		known = hostile.Schemas()
	}
	result, err := measure(hostile.Document, harmless, object, known)
	if err != nil {
		return err
	}
	if result.Outcome != hostile.Passed {
		return fmt.Errorf("the harmless rule was %s: %s", result.Outcome, result.Message)
	}
	if result, err = measure(c.Kind, text, object, known); err != nil {
		return err
	}
	if c.Kind == hostile.Document || c.Kind == hostile.Typed {
		result.Message = cmp.Or(mistake(text), result.Message)
	}
	result.Message = hostile.Shorten(result.Message)
	if result.Yardstick, err = yardstick(); err != nil {
		return err
	}
	return json.NewEncoder(os.Stdout).Encode(result)
}

// measure does with a case what the controller does with a file of rules and then with an object, which are two things:
// a file is loaded once, and what is idle afterwards has it in memory.
func measure(kind hostile.Kind, text string, object map[string]any, known *schema.Catalog) (hostile.Result, error) {
	result := hostile.Result{Outcome: hostile.Refused}
	idle, err := settle()
	if err != nil {
		return result, err
	}
	evaluate, refusal := load(kind, text, known)
	if result.Load, err = idle.since(); err != nil {
		return result, err
	}
	if refusal != "" {
		result.Message = refusal
		return result, nil
	}
	if idle, err = settle(); err != nil {
		return result, err
	}
	failure := evaluate(object)
	if result.Run, err = idle.since(); err != nil {
		return result, err
	}
	result.Outcome, result.Message = hostile.Passed, failure
	if failure != "" {
		result.Outcome = hostile.Stopped
	}
	runtime.KeepAlive(evaluate)
	return result, nil
}
