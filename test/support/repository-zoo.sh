#!/bin/bash
# Builds real Git layouts, honest and hostile, in one directory.
# expected is what a fail-closed prover should say: MAIN | LINKED | REJECT | POLICY:<why>
set -u
Z=${1:?dest}; rm -rf "$Z"; mkdir -p "$Z"; Z=$(cd "$Z" && pwd -P); cd "$Z"
export GIT_CONFIG_NOSYSTEM=1 GIT_CONFIG_GLOBAL="$Z/gitconfig" HOME="$Z"
git config --file "$Z/gitconfig" user.name z; git config --file "$Z/gitconfig" user.email z@example.invalid
git config --file "$Z/gitconfig" init.defaultBranch main; git config --file "$Z/gitconfig" protocol.file.allow always
: > manifest
add() { printf '%s\0%s\0%s\0' "$1" "$2" "$3" >> "$Z/manifest"; }
mk() { git init -q "$@" ; local d="${@: -1}"; git -C "$d" commit -q --allow-empty -m x; }
wt() { git -C "$1" worktree add -q --detach "${@:2}" ; }

mk plain; mkdir -p plain/a/b; echo hi > plain/a/b/f
add plain "$Z/plain" MAIN
add nested-dir "$Z/plain/a" REJECT
add dotgit-dir-itself "$Z/plain/.git" REJECT
mk plain/inner; add repo-in-repo "$Z/plain/inner" MAIN
mkdir plain/emb; cp -r plain/.git/. plain/emb/; git --git-dir=plain/emb config core.bare true; add embedded-bare-in-tree "$Z/plain/emb" REJECT
mkdir notrepo; add not-a-repo "$Z/notrepo" REJECT
mkdir emptydotgit; mkdir emptydotgit/.git; add empty-dotgit "$Z/emptydotgit" REJECT
mkdir -p plain/x; mkdir plain/x/.git; add empty-dotgit-inside-repo "$Z/plain/x" REJECT
ln -s plain plain-link; add symlink-to-main "$Z/plain-link" REJECT

mk super; mk subsrc; git -C super submodule --quiet add ../subsrc sub 2>/dev/null; git -C super commit -qm sub
add submodule "$Z/super/sub" POLICY:submodule
wt super "$Z/superwt"; add linked-of-super "$Z/superwt" LINKED
wt super/sub "$Z/subwt"; add worktree-of-submodule "$Z/subwt" POLICY:submodule-main

mk --separate-git-dir="$Z/sepgit" sep; add separate-git-dir "$Z/sep" POLICY:separate-git-dir
wt sep "$Z/sepwt"; add linked-of-separate "$Z/sepwt" POLICY:main-unknown
mkdir absorbed; mk --separate-git-dir="$Z/absorbed/.git-real" absorbed/w; add separate-inside "$Z/absorbed/w" POLICY:separate-git-dir

mk m; wt m "$Z/wt-ok"; mkdir wt-ok/sub; add linked "$Z/wt-ok" LINKED
add linked-subdir "$Z/wt-ok/sub" REJECT
add admin-dir-itself "$Z/m/.git/worktrees/wt-ok" REJECT
wt wt-ok "$Z/wt-of-wt"; add worktree-added-from-worktree "$Z/wt-of-wt" LINKED
wt m "$Z/wt-ok/inside"; add worktree-inside-worktree "$Z/wt-ok/inside" LINKED
wt m "$Z/m/.trees/t1"; add worktree-inside-main "$Z/m/.trees/t1" LINKED
mkdir d1 d2; wt m "$Z/d1/same"; wt m "$Z/d2/same"; add same-basename-2 "$Z/d2/same" LINKED
wt m "$Z/wt-locked"; git -C m worktree lock --reason 'usb' "$Z/wt-locked"; add locked "$Z/wt-locked" LINKED
wt m "$Z/wt-lockedgone"; git -C m worktree lock "$Z/wt-lockedgone"; rm -rf wt-lockedgone; add locked-dir-gone "$Z/wt-lockedgone" REJECT
wt m "$Z/wt-lockednogit"; git -C m worktree lock "$Z/wt-lockednogit"; rm wt-lockednogit/.git; add locked-dotgit-gone "$Z/wt-lockednogit" REJECT
wt m "$Z/wt-gone"; rm -rf wt-gone; add prunable-dir-gone "$Z/wt-gone" REJECT
wt m "$Z/wt-nogit"; rm wt-nogit/.git; add prunable-dotgit-gone "$Z/wt-nogit" REJECT
wt m "$Z/wt-replaced"; rm -rf wt-replaced; mkdir wt-replaced; add prunable-replaced-by-empty-dir "$Z/wt-replaced" REJECT
wt m "$Z/wt-replrepo"; rm -rf wt-replrepo; mk wt-replrepo; add replaced-by-other-main "$Z/wt-replrepo" REJECT_LINKED_MAIN_OK
wt m "$Z/wt-mv"; mv wt-mv wt-moved; add moved-no-repair-new "$Z/wt-moved" REJECT; add moved-no-repair-old "$Z/wt-mv" REJECT
wt m "$Z/wt-redir"; mkdir elsewhere; echo "$Z/elsewhere/.git" > m/.git/worktrees/wt-redir/gitdir; add gitdir-file-points-elsewhere "$Z/wt-redir" REJECT
wt m "$Z/wt-swapA"; wt m "$Z/wt-swapB"; cp wt-swapA/.git t; cp wt-swapB/.git wt-swapA/.git; cp t wt-swapB/.git; add dotgit-swapped-A "$Z/wt-swapA" REJECT; add dotgit-swapped-B "$Z/wt-swapB" REJECT
wt m "$Z/wt-orig"; cp -a wt-orig wt-copy; add copied-worktree-copy "$Z/wt-copy" REJECT; add copied-worktree-orig "$Z/wt-orig" LINKED
mkdir fab1; echo "gitdir: $Z/m/.git/worktrees/wt-ok" > fab1/.git; add fab-dotgit-to-foreign-admin "$Z/fab1" REJECT
mkdir fab2; echo "gitdir: $Z/m/.git" > fab2/.git; add fab-dotgit-to-main-gitdir "$Z/fab2" REJECT
# forged admin dir outside <common>/worktrees, commondir names the victim, gitdir points back => self consistent, not a row
mkdir fab3 fab3admin; echo "gitdir: $Z/fab3admin" > fab3/.git; echo "$Z/m/.git" > fab3admin/commondir; echo "$Z/fab3/.git" > fab3admin/gitdir; cp m/.git/worktrees/wt-ok/HEAD fab3admin/HEAD
add fab-forged-admin-outside "$Z/fab3" REJECT
# same, admin basename equals a genuine row name
mkdir fab4 fab4admin; mkdir fab4admin/wt-ok; echo "gitdir: $Z/fab4admin/wt-ok" > fab4/.git; echo "$Z/m/.git" > fab4admin/wt-ok/commondir; echo "$Z/fab4/.git" > fab4admin/wt-ok/gitdir; cp m/.git/worktrees/wt-ok/HEAD fab4admin/wt-ok/HEAD
add fab-forged-admin-same-name "$Z/fab4" REJECT
# admin dir of repo m, commondir rewritten to another repo
mk other; wt m "$Z/wt-xcommon"; echo "$Z/other/.git" > m/.git/worktrees/wt-xcommon/commondir; add commondir-to-other-repo "$Z/wt-xcommon" REJECT
# admin dir symlinked into worktrees/
wt m "$Z/wt-symadm"; mv m/.git/worktrees/wt-symadm symadm; ln -s "$Z/symadm" m/.git/worktrees/wt-symadm; echo "$Z/m/.git" > symadm/commondir; add admin-dir-is-symlink "$Z/wt-symadm" REJECT
# forged row: invalid admin dir (no HEAD) next to others (exercise list filter)
mkdir -p m/.git/worktrees/aaa-bad1 m/.git/worktrees/aaa-bad2 m/.git/worktrees/aaa-bad3
git -C m worktree list >/dev/null
git clone -q --bare m bare.git; wt bare.git "$Z/barewt"; add bare-itself "$Z/bare.git" REJECT; add linked-of-bare "$Z/barewt" POLICY:bare-main
mkdir hidbare; git clone -q --bare m hidbare/.git; wt hidbare/.git "$Z/hidbare/w1"; add bare-in-dotgit-root "$Z/hidbare" REJECT; add linked-of-dotgit-bare "$Z/hidbare/w1" POLICY:bare-main
mk confbare; wt confbare "$Z/confbare-wt"; git -C confbare config core.bare true; add core.bare-true-nonbare-layout "$Z/confbare" REJECT; add linked-of-core.bare-true "$Z/confbare-wt" POLICY:bare-main

mkdir 'sp ace' ; wt m "$Z/sp ace/w t"; add path-spaces "$Z/sp ace/w t" LINKED
wt m "$Z/näïve-日本"; add path-nonascii "$Z/näïve-日本" LINKED
wt m "$Z/nl"$'\n'"in"; add path-newline-middle "$Z/nl"$'\n'"in" LINKED
wt m "$Z/nl-end"$'\n' ; add path-newline-end "$Z/nl-end"$'\n' REJECT
wt m "$Z/sp-end " ; add path-space-end "$Z/sp-end " LINKED_OR_REJECT
wt m "$Z/-dash" ; add path-dash "$Z/-dash" LINKED
wt m "$Z/q\"'\\t" ; add path-quotes-backslash "$Z/q\"'\\t" LINKED
mk 'm sp äö'; wt 'm sp äö' "$Z/wt-msp"; add main-path-nonascii "$Z/wt-msp" LINKED
BAD="$Z/bad"$'\xff'; mk "$BAD"; add main-invalid-utf8 "$BAD" REJECT
ln -s wt-ok wt-sym; add symlinked-worktree-path "$Z/wt-sym" REJECT
ln -s . selfz; add symlinked-parent "$Z/selfz/wt-ok" REJECT
wt m "$Z/selfz/wt-viasym"; add worktree-added-via-symlink-parent "$Z/wt-viasym" LINKED_IF_CANONICAL
wt m "$Z/wt-nc"; echo "gitdir: $Z/m/.git/../.git//worktrees/./wt-nc" > wt-nc/.git; add dotgit-noncanonical-path "$Z/wt-nc" REJECT_OR_LINKED
wt m "$Z/wt-crlf"; printf 'gitdir: %s\r\n' "$Z/m/.git/worktrees/wt-crlf" > wt-crlf/.git; add dotgit-crlf "$Z/wt-crlf" REJECT
wt m "$Z/wt-2line"; printf 'gitdir: %s\nextra\n' "$Z/m/.git/worktrees/wt-2line" > wt-2line/.git; add dotgit-two-lines "$Z/wt-2line" REJECT
mk dgl; mv dgl/.git dgl-real; ln -s ../dgl-real dgl/.git; add dotgit-symlink-to-dir "$Z/dgl" REJECT
wt m "$Z/wt-dgsym"; mv wt-dgsym/.git dgfile; ln -s ../dgfile wt-dgsym/.git; add dotgit-symlink-to-file "$Z/wt-dgsym" REJECT
# relative links (2.48 style) by hand
mk rel; wt rel "$Z/rel-wt"; echo "gitdir: ../rel/.git/worktrees/rel-wt" > rel-wt/.git; echo "../../../../rel-wt/.git" > rel/.git/worktrees/rel-wt/gitdir; add relative-links-noext "$Z/rel-wt" LINKED_OR_REJECT
mk relx; wt relx "$Z/relx-wt"; echo "gitdir: ../relx/.git/worktrees/relx-wt" > relx-wt/.git; echo "../../../../relx-wt/.git" > relx/.git/worktrees/relx-wt/gitdir; git -C relx config core.repositoryformatversion 1; git -C relx config extensions.relativeWorktrees true
add relative-links-ext "$Z/relx-wt" LINKED_IF_SUPPORTED; add relative-links-ext-main "$Z/relx" MAIN_IF_SUPPORTED
# core.worktree games
mk cw; mkdir cw-else; git -C cw config core.worktree "$Z/cw-else"; add core.worktree-elsewhere "$Z/cw" REJECT; add core.worktree-target "$Z/cw-else" REJECT
mk cw2; git -C cw2 config core.worktree ..; add core.worktree-self "$Z/cw2" MAIN_OR_REJECT
mk wc; wt wc "$Z/wc-wt"; git -C wc config extensions.worktreeConfig true; git -C wc config --worktree core.worktree "$Z/cw-else"; add worktreeConfig-core.worktree-main "$Z/wc" REJECT
mk wc2; wt wc2 "$Z/wc2-wt"; git -C wc2 config extensions.worktreeConfig true; git -C wc2-wt config --worktree core.worktree "$Z/cw-else"; add worktreeConfig-core.worktree-linked "$Z/wc2-wt" REJECT
mk cwl; wt cwl "$Z/cwl-wt"; git -C cwl config core.worktree "$Z/cw-else"; add core.worktree-in-common-linked "$Z/cwl-wt" REJECT_OR_POLICY
# formats
mk --object-format=sha256 s256; add sha256-main "$Z/s256" MAIN_IF_SUPPORTED; wt s256 "$Z/s256-wt"; add sha256-linked "$Z/s256-wt" LINKED_IF_SUPPORTED
mk rt; git -C rt config core.repositoryformatversion 1; git -C rt config extensions.refStorage reftable; add reftable-sim "$Z/rt" MAIN_IF_SUPPORTED
mk pc; git -C pc config core.repositoryformatversion 1; git -C pc config extensions.partialClone origin; add partialclone-ext "$Z/pc" MAIN_IF_SUPPORTED
mk rv; git -C rv config core.repositoryformatversion 99; add format-version-99 "$Z/rv" REJECT
mk ux; git -C ux config core.repositoryformatversion 1; git -C ux config extensions.zork true; add unknown-extension "$Z/ux" REJECT
mk badcfg; echo '[core' >> badcfg/.git/config; add bad-config "$Z/badcfg" REJECT
mk nocfg; rm nocfg/.git/config; add config-missing "$Z/nocfg" MAIN_OR_REJECT
mk incmiss; git -C incmiss config include.path /nonexistent; add include-missing "$Z/incmiss" MAIN
mk incself; git -C incself config include.path config; add include-self-loop "$Z/incself" REJECT
mk fifocfg; rm fifocfg/.git/config; mkfifo fifocfg/.git/config; add HANG-config-fifo "$Z/fifocfg" REJECT
mk fifoinc; mkfifo fifoinc/.git/ff; git -C fifoinc config include.path ff; add HANG-include-fifo "$Z/fifoinc" REJECT
mk fifogit; rm -rf fifogit/.git; mkfifo fifogit/.git; add HANG-dotgit-fifo "$Z/fifogit" REJECT
mk fifocd; wt fifocd "$Z/fifocd-wt"; rm fifocd/.git/worktrees/fifocd-wt/commondir; mkfifo fifocd/.git/worktrees/fifocd-wt/commondir; add HANG-commondir-fifo "$Z/fifocd-wt" REJECT
mk fifogd; wt fifogd "$Z/fifogd-wt"; rm fifogd/.git/worktrees/fifogd-wt/gitdir; mkfifo fifogd/.git/worktrees/fifogd-wt/gitdir; add HANG-gitdir-fifo "$Z/fifogd-wt" REJECT
mk fifogd2; wt fifogd2 "$Z/fifogd2-a"; wt fifogd2 "$Z/fifogd2-b"; rm fifogd2/.git/worktrees/fifogd2-b/gitdir; mkfifo fifogd2/.git/worktrees/fifogd2-b/gitdir; add HANG-sibling-gitdir-fifo "$Z/fifogd2-a" LINKED
mk hugegit; rm -rf hugegit/.git; truncate -s 3G hugegit/.git; add huge-dotgit-3G-sparse "$Z/hugegit" REJECT
# HEAD states
git init -q unborn; add unborn "$Z/unborn" MAIN
mk det; git -C det checkout -q --detach; add detached "$Z/det" MAIN
mk badhead; echo garbage > badhead/.git/HEAD; add HEAD-garbage "$Z/badhead" REJECT
mk emptyhead; : > emptyhead/.git/HEAD; add HEAD-empty "$Z/emptyhead" REJECT
mk norefs; rm -rf norefs/.git/refs; add refs-missing "$Z/norefs" REJECT
wt m "$Z/wt-badhead"; echo garbage > m/.git/worktrees/wt-badhead/HEAD; add linked-HEAD-garbage "$Z/wt-badhead" REJECT
wt m "$Z/wt-nohead"; rm m/.git/worktrees/wt-nohead/HEAD; add linked-HEAD-missing "$Z/wt-nohead" REJECT
wt m "$Z/wt-mainmoved-x"; mk mm; wt mm "$Z/mm-wt"; mv mm mm2; add main-moved "$Z/mm-wt" REJECT; add main-moved-main "$Z/mm2" MAIN
# owners (only meaningful as root)
if [ "$(id -u)" = 0 ]; then mk foreign; wt foreign "$Z/foreign-wt"; chown -R 65534:65534 foreign foreign-wt; add foreign-owner-main "$Z/foreign" REJECT; add foreign-owner-linked "$Z/foreign-wt" REJECT
mk fdot; chown -R 65534 fdot/.git; add foreign-dotgit-only "$Z/fdot" REJECT
mk fwt; wt fwt "$Z/fwt-wt"; chown 65534 fwt-wt; add foreign-wtdir-only "$Z/fwt-wt" REJECT; fi
echo "zoo: $(tr -cd '\0' < manifest | wc -c) fields" >&2
