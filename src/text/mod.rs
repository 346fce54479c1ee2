//! Text as the matcher sees it: normalised, segmented, weighted. Folding is for matching only and never
//! reaches the upstream.
