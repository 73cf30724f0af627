// Edits that may repair an error, and the trial that decides which of them do.
//
// suggest.cpp drafts edits where an error is reported: what people mean when they write the mistake. Each is
// tentative. When a whole file has been elaborated, try_edits() makes every tentative edit in the text and
// elaborates that: an edit that does not remove its error, or that brings another, is dropped. Whether an
// edit is safe is a property of its kind, stated where it is drafted (Changes): it changes only spelling,
// types, `where`, size parameters or imports. Of what changes which elements are computed, or which inputs an
// entry takes, a person has to think: the type of a parameter of an entry, a declared type, the `where` of an
// entry. A size there that nothing else names and that is spelt nearly like another one is misspelt, which is
// safe.
#pragma once
#include "core/elaborate.h"

namespace axon::core {

void try_edits(const syntax::File& file, const source::SourceManager& sources, const Loader& loader,
               source::Diagnostics& diagnostics, const Options& options);

}  // namespace axon::core
