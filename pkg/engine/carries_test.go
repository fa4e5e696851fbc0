package engine_test

import (
	"testing"

	"github.com/dyncontroller/dyncontroller/pkg/engine"
	"github.com/dyncontroller/dyncontroller/pkg/rules"
)

// TestCarries holds that a feature is refused unless the table says otherwise.
func TestCarries(t *testing.T) {
	for _, feature := range []rules.Feature{"one that is yet to come"} {
		if engine.Carries(feature) {
			t.Errorf("%s is carried out", feature)
		}
	}
	for _, feature := range []rules.Feature{
		rules.FeaturePatch, rules.FeatureEvent, rules.FeatureWith, rules.FeatureOnDelete, rules.FeatureRelease,
		rules.FeatureApply, rules.FeatureCreate, rules.FeatureDelete, rules.FeatureIdentity, rules.FeatureLimits,
	} {
		if !engine.Carries(feature) {
			t.Errorf("%s is not carried out", feature)
		}
	}
}
