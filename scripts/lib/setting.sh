# Reads what a release says of itself. Sourced in the root folder.

# setting NAME: a text of [workspace.package] in Cargo.toml: version, repository, homepage. Without cargo, for what only packs.
setting() { sed -n '/^\[workspace\.package\]/,/^\[/s/^'"$1"' = "\(.*\)"$/\1/p' Cargo.toml; }
