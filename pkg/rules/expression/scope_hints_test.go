package expression

import "testing"

// TestHintsOfScopes holds that hints outlive an extension, and that a name that is
// there needs none.
func TestHintsOfScopes(t *testing.T) {
	scope := NewScope("object").WithHints(map[string]string{"least": "write params.least"}).Extend("more")
	if _, err := Compile("least", scope); err == nil || err.Error() != `unknown name "least"; write params.least` {
		t.Errorf("the hint is lost: %v", err)
	}
	if _, err := Compile("least + more", scope.Extend("least")); err != nil {
		t.Errorf("the name is there: %v", err)
	}
}

// TestVariablesOfShells holds that a script in a body gets told how to stay one.
func TestVariablesOfShells(t *testing.T) {
	const hint = "write $${ for a literal ${"
	for text, wanted := range map[string]bool{
		"${HOME}": true, "a ${HOME:-/root} b": true, "${PATH:+x}": true, "${A=b}": true,
		"${home}": false, "${1 +}": false, "${Home}": false,
	} {
		_, err := CompileTemplate(text, NewScope("object"))
		got, _ := place(t, text, err)
		if (got.Hint == hint) != wanted {
			t.Errorf("%s: hint %q", text, got.Hint)
		}
	}
}
