package document

import "testing"

func TestExpect(t *testing.T) {
	root := mustParse(t, "a: 1\nb: [c]\n")[0]
	if err := root.Get("b").Expect(KindString | KindList); err != nil {
		t.Error(err)
	}
	err := root.Get("a").Expect(KindString | KindList)
	if want := `f.yaml:1:4: a: want a string or a list, have an integer; put it in quotes: "1"`; err == nil || err.Error() != want {
		t.Errorf("have %v, want %s", err, want)
	}
	for source, hint := range map[string]string{
		"name:a": "put a space after the colon: name: a", "[name]": "write lines of key: value, or {key: value}", "": "give it a value or remove it",
	} {
		if err := mustParse(t, "x: "+source)[0].Get("x").Expect(KindMap); err == nil || err.Hint != hint {
			t.Errorf("%s is a map: %v", source, err)
		}
	}
	if err := mustParse(t, "x: '3'")[0].Get("x").Expect(KindInt); err == nil || err.Hint != "write it without quotes: 3" {
		t.Errorf("have %v", err)
	}
	if err := root.Get("nothing").Expect(KindString); err != nil {
		t.Error(err)
	}
}
