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
    list,              // hvl_t: variable-length lists, and variable-length texts too
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
  bool has_lists = false;
};

/// A type for reading and writing, and its form.
struct MemoryForm {
  Hid type;
  ElementForm form;
};

/// The memory form of a type. It is the type itself, except that variable-length texts are lists of bytes: so they keep
/// zero bytes and the length they are stored with. Throws Error{unsupported} for references of a kind unknown here.
MemoryForm memory_form(const Lock& lock, hid_t type);

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
