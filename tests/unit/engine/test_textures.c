#include "whole.h"
