package engine_test

import (
	"testing"

	"github.com/dyncontroller/dyncontroller/pkg/engine"
	"github.com/dyncontroller/dyncontroller/pkg/rules"
)

// TestCarries holds that a feature is refused unless the table says otherwise: the
// writer cannot create or delete, nobody reads related objects or counts limits.
func TestCarries(t *testing.T) {
	for _, feature := range []rules.Feature{
		rules.FeatureWith, rules.FeatureOnDelete, rules.FeatureLimits, rules.FeatureRelease, rules.FeatureIdentity,
		rules.FeatureApply, rules.FeatureCreate, rules.FeatureDelete, "one that is yet to come",
	} {
		if engine.Carries(feature) {
			t.Errorf("%s is carried out", feature)
		}
	}
}
