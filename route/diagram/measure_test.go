package diagram

import "testing"

// TestNoFontIsWider: what is measured has room also in DejaVu Sans, the widest of the usual
// fonts. Its advance widths are those of the font file, in thousandths of the font's size.
func TestNoFontIsWider(t *testing.T) {
	t.Parallel()
	for characters, width := range map[string]float64{
		"'": 275, "ijl": 278, "IJ": 295, " ,.·": 318, "/:;\\|": 337, "f": 352, "-": 361, "()[]": 390, "t": 392, "!": 401, "r": 411, "\"": 460, "*_`": 500, "s": 521, "z": 525, "?": 531,
		"cç": 550, "L": 557, "F": 575, "k": 579, "vxy": 592, "P": 603, "TY": 611, "oöø": 612, "aäå": 613, "eé": 615, "ß": 630, "E": 632, "hnuüñ": 634, "Sbdgpq": 635, "$0123456789{}": 636,
		"K": 656, "AVÄ": 684, "XZ": 685, "B": 686, "R": 695, "C": 698, "UÜ": 732, "N": 748, "H": 752, "D": 770, "G": 775, "&": 780, "OQÖ": 787, "w": 818, "#+<=>^~→": 838, "M": 863,
		"%": 950, "m": 974, "W": 989, "@…": 1000,
	} {
		for _, r := range characters {
			if got := charWidth(r) * 1000; got < width {
				t.Errorf("%q is measured as %.0f, and is %.0f wide", r, got, width)
			}
		}
	}
}
