// HDF5 attributes and our attribute values.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "array/attribute.h"
#include "format/hdf5/file.h"

namespace chunkwise::hdf5 {

/// True for the attributes with which netCDF-4 and the dimension scale convention keep their own books. They are not
/// part of the neutral form.
bool is_hidden_attribute(std::string_view name);

/// The creation list of a group, dataset or named type; none for others.
Hid creation_list(const Lock& lock, hid_t object);
/// True if an object with that creation list remembers in which order its attributes were made.
bool tracks_attribute_order(const Lock& lock, const Hid& creation);

struct AttributeEntry {
  std::string name;
  std::uint64_t data_bytes = 0;  // as stored
};
/// The attributes of an object, in creation order where it is known, else by name. `creation` is its creation list.
std::vector<AttributeEntry> list_attributes(const Lock& lock, hid_t object, const Hid& creation);

/// Reads an attribute. Throws Error{corrupt}, also when it claims to be longer than `max_bytes`. A single text keeps
/// the zero bytes it ends with, which are characters in netCDF.
AttributeValue read_attribute(const Lock& lock, hid_t object, const std::string& name, std::uint64_t max_bytes);

/// Outside netCDF zero bytes at the end of texts of a fixed width are terminators and padding, which no reader shows.
/// Those inside stay: tools disagree whether a text ends there.
void drop_text_ends(std::vector<Attribute>& attributes);

/// The single text of a string attribute; empty if there is no such attribute or it is no text. It
/// ends at a zero byte.
std::string read_text_attribute(const Lock& lock, hid_t object, const char* name);

/// How to store what a neutral value leaves open.
enum class AttributeStyle {
  netcdf,  // numbers as lists; one fixed text as characters, other texts as strings: what netCDF-C writes
  hdf5,    // ranks as they are
};
/// Types of a new file that are objects, by their paths.
using NamedTypes = std::map<std::string, Hid>;
/// Writes a new attribute. Throws Error{unsupported} for values with no HDF5 form (json, foreign).
void write_attribute(const Lock& lock, hid_t object, const Attribute& attribute, AttributeStyle style,
                     const NamedTypes& types = {});

/// A property list for naming a new link or attribute: UTF-8 if `name` is not ASCII.
Hid naming_list(const Lock& lock, hid_t list_class, std::string_view name);

}  // namespace chunkwise::hdf5
