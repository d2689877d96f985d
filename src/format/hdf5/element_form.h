// How elements that hold lists or references lie in memory.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <vector>

#include "format/hdf5/handle.h"

namespace chunkwise::hdf5 {

/// An element type without the library's words, so that values can be walked without asking it for every element.
struct ElementForm {
  enum class Kind {
    plain,             // bytes that mean the same everywhere
    list,              // hvl_t: variable-length lists, and variable-length texts if they are read so
    text,              // char*: a variable-length text, null if there is none
    object_reference,  // hobj_ref_t
    region_reference,  // hdset_reg_ref_t
    compound,
    array,
  };
  struct Member {
    std::size_t offset_bytes = 0;
    std::unique_ptr<ElementForm> form;
  };

  Kind kind = Kind::plain;
  std::size_t size_bytes = 0;
  std::vector<Member> members;        // of a compound
  std::unique_ptr<ElementForm> base;  // of a list or an array
  std::size_t n_base = 0;             // of an array
  bool has_references = false;        // at any depth, itself included
  bool has_lists = false;             // or texts: memory beside the elements
  bool has_texts = false;             // of Kind::text
};

/// A type for reading and writing, and its form.
struct MemoryForm {
  Hid type;
  ElementForm form;
};

/// How variable-length texts are read and written: as lists of bytes they keep zero bytes and the length they are
/// stored with, as texts the difference between an empty one and none.
enum class Texts { as_lists, as_texts };

/// The memory form of a type, which is the type itself but for its texts. Throws Error{unsupported} for references of a
/// kind unknown here.
MemoryForm memory_form(const Lock& lock, hid_t type, Texts texts = Texts::as_lists);

/// What the texts among elements need, read in both forms.
struct TextFacts {
  bool any_empty = false;      // there, but without a byte: a list of none would become no text
  bool any_zero_byte = false;  // ends before its length as a text
  Texts best() const { return any_empty ? Texts::as_texts : Texts::as_lists; }
  bool contradict() const { return any_empty && any_zero_byte; }
};
void look_at_texts(const ElementForm& lists, const std::byte* as_lists, const ElementForm& texts,
                   const std::byte* as_texts, std::size_t n, TextFacts& facts);

/// What becomes of one reference.
enum class Kept { yes, no };
/// Gets the kind of a reference and its bytes, and may change them.
using ReferenceVisitor = std::function<Kept(ElementForm::Kind, std::byte* at)>;

/// Visits every reference in `n` elements at `data`. From a list of references those not kept are removed; elsewhere
/// the answer does not count. Lists must be the library's own (they are freed with their last element).
void visit_references(const ElementForm& form, std::byte* data, std::size_t n, const ReferenceVisitor& visit);

/// Compares two references of a kind.
using SameReference = std::function<bool(ElementForm::Kind, const std::byte* a, const std::byte* b)>;
/// True if two elements are equal; references are as `same` says.
bool equal_elements(const ElementForm& form, const std::byte* a, const std::byte* b, const SameReference& same);

/// Bytes that an element takes in the file itself, without what its lists hold elsewhere. `address_bytes` is the size
/// of an address in that file.
std::size_t stored_element_bytes(const Lock& lock, hid_t type, std::size_t address_bytes);

}  // namespace chunkwise::hdf5
