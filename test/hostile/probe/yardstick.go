package main

import (
	"encoding/json"
	"strconv"

	"github.com/dyncontroller/dyncontroller/test/hostile"
)

// yardstick measures work that is always the same, and like that of a loader: maps, texts, garbage. The machine that
// does it slowly does the case beside it slowly, too.
func yardstick() (hostile.Figures, error) {
	settled, err := settle()
	if err != nil {
		return hostile.Figures{}, err
	}
	if err := work(); err != nil {
		return hostile.Figures{}, err
	}
	return settled.since()
}

func work() error {
	const entries, rounds = 2000, 4
	all := make(map[string]any, entries)
	for i := range entries {
		all["key-"+strconv.Itoa(i)] = map[string]any{"name": strconv.Itoa(i), "values": []any{i, true, "text"}}
	}
	for range rounds {
		data, err := json.Marshal(all)
		if err != nil {
			return err
		}
		if err := json.Unmarshal(data, &all); err != nil {
			return err
		}
	}
	return nil
}
